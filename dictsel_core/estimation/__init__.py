"""The quality of a restoration without the original."""

from dictsel_core.estimation.psnr import QualityEstimate, estimate_psnr

__all__ = ["QualityEstimate", "estimate_psnr"]
