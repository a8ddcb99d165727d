"""Helpers that all layers share: validation, memory layout, threads, runs, compiled kernels."""
