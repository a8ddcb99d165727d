"""The names of the library, for type checkers, and for lazy_loader, which imports them when first used."""

from . import (
    atoms as atoms,
)
from . import (
    completion as completion,
)
from . import (
    constraints as constraints,
)
from . import (
    damage_kinds as damage_kinds,
)
from . import (
    detection as detection,
)
from . import (
    evaluation as evaluation,
)
from . import (
    grain as grain,
)
from . import (
    learning as learning,
)
from . import (
    online as online,
)
from . import (
    progress as progress,
)
from . import (
    pursuit as pursuit,
)
from . import (
    refinement as refinement,
)
from . import (
    restoration as restoration,
)
from . import (
    selection as selection,
)
from . import (
    sklearn as sklearn,
)
from . import (
    theory as theory,
)
from . import (
    utility as utility,
)
from ._version import __version__ as __version__
from .atoms import GroundSet as GroundSet
from .atoms import ground_set_from_array as ground_set_from_array
from .atoms import standard_ground_set as standard_ground_set
from .constraints import AverageSparsity as AverageSparsity
from .constraints import BlockSparsity as BlockSparsity
from .constraints import Constraint as Constraint
from .constraints import IndividualSparsity as IndividualSparsity
from .constraints import MatroidSparsity as MatroidSparsity
from .constraints import PartitionMatroid as PartitionMatroid
from .detection import detect_damage as detect_damage
from .evaluation import estimate_psnr as estimate_psnr
from .evaluation import psnr as psnr
from .evaluation import ssim as ssim
from .evaluation import tune as tune
from .pursuit import SparseCodes as SparseCodes
from .pursuit import constrained_omp as constrained_omp
from .pursuit import omp as omp
from .restoration import Restoration as Restoration
from .restoration import RestoreSettings as RestoreSettings
from .restoration import RestoreStep as RestoreStep
from .restoration import iter_restore as iter_restore
from .restoration import restore as restore
from .restoration import restore_region as restore_region
from .selection import Selection as Selection
from .selection import replacement_ols as replacement_ols
from .selection import replacement_omp as replacement_omp
