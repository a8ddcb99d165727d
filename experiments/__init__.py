"""The experiments of Fujii and Soma (2018), one file per figure: ``python -m experiments list``."""
