"""Figure 3: half of the entries missing, T = 100 and T = 1,000."""

from experiments.offline import OfflineExperiment, Setting

EXPERIMENT = OfflineExperiment(
    "masked",
    "Half of the entries missing",
    (
        Setting(
            100,
            ("SDS_MA", "SDS_OMP", "RG", "ROMP", "ROMP, k iterations", "ROMPd", "ROLS"),
            masked=True,
            with_images=False,
        ),
        Setting(
            1000,
            ("SDS_MA", "ROMP", "ROMP, k iterations", "ROMPd", "ROLS", "MOD", "K-SVD"),
            masked=True,
            with_images=False,
        ),
    ),
)
