"""Figure 1, third row: average sparsity, s_t = 8 and s' = 5T, on T = 1,000 points."""

from experiments.offline import OfflineExperiment, Setting

EXPERIMENT = OfflineExperiment(
    "average",
    "Average sparsity, T = 1,000",
    (Setting(1000, ("SDS_MA", "ROMP", "ROMP, k iterations", "ROMPd", "ROLS"), average=True),),
)
