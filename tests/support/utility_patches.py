"""What selectors compute from a utility, by its definition and a general optimizer."""

import numpy as np
from literal import Patches
from scipy.optimize import minimize


class UtilityPatches(Patches):
    """Literal definitions: refits by a general optimizer, gradients, and the smoothness of each patch."""

    def __init__(self, ground_set, data, weights, utility):
        super().__init__(ground_set, data, weights == 0)
        self.entry_weights, self.utility_function = weights, utility
        self.curvatures = utility.smoothness * weights.max(axis=1)
        self.known = {}

    def fit(self, t, support):
        key = t, tuple(support)
        if key not in self.known:
            columns, y = self.ground_set.atoms[:, support], np.nan_to_num(self.data[t])
            count = self.entry_weights[t]

            def loss(w):
                return -(count * self.utility_function.value(y, columns @ w)).sum()

            def slope(w):
                return -columns.T @ (count * self.utility_function.slope(y, columns @ w))

            weights = np.zeros(len(support))
            if len(support):
                weights = minimize(loss, weights, jac=slope, options={"gtol": 1e-10}).x
            residual = count * self.utility_function.slope(y, columns @ weights)
            self.known[key] = weights, residual, -loss(weights)
        return self.known[key]

    def utility(self, t, support):
        return self.fit(t, support)[2]

    def weights(self, t, support):
        return self.fit(t, support)[0] * np.sqrt(self.curvatures[t])

    def squared_correlations(self, t, support):
        squares = (self.ground_set.atoms.T @ self.fit(t, support)[1]) ** 2 / self.curvatures[t]
        squares[support] = 0
        return np.where(squares > 1e-11, squares, 0)
