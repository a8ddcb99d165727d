"""The quality of a restoration without the original."""

from dictsel_core.estimation.psnr import estimate_psnr
from dictsel_core.estimation.result import QualityEstimate

__all__ = ["QualityEstimate", "estimate_psnr"]
