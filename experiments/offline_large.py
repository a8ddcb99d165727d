"""Figure 1, second row: selection against learning on T = 1,000 points."""

from experiments.offline import OfflineExperiment, Setting

EXPERIMENT = OfflineExperiment(
    "offline_large",
    "Selection and learning, T = 1,000",
    (Setting(1000, ("SDS_MA", "ROMP", "ROMP, k iterations", "ROMPd", "ROLS", "MOD", "K-SVD")),),
)
