"""Figure 1, first row: all selectors on T = 100 points."""

from experiments.offline import OfflineExperiment, Setting

EXPERIMENT = OfflineExperiment(
    "offline_small",
    "Selectors, T = 100",
    (Setting(100, ("SDS_MA", "SDS_OMP", "RG", "ROMP", "ROMP, k iterations", "ROMPd", "ROLS")),),
)
