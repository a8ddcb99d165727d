"""Where the atoms of a dictionary are used."""

import numpy as np
from pictures import photograph, random_mask

from dictsel_core import RestoreSettings, restore
from inpaint_app.engine.dictionary import atom_use, selection_shares
from inpaint_app.engine.restore import RestoreRequest


def test_the_patches_of_an_atom_are_those_that_use_it_though_pixels_were_held_out() -> None:
    original = photograph(256)
    mask = random_mask(original.shape, 0.9)
    request = RestoreRequest(
        np.where(mask, 0, original).astype(np.uint8), mask, RestoreSettings.preset("best")
    )
    restoration = restore(request.pixels, request.mask, request.settings)
    selection = restoration.selection
    assert selection is not None
    shares, n_patches = selection_shares(restoration), len(selection.supports)
    low, high = float(original[~mask].min()), float(original[~mask].max())
    n_rects, n_right = 0, 0
    for number, atom in enumerate(selection.indices):
        users = [t for t, support in enumerate(selection.supports) if atom in support]
        assert shares[number] == len(users) / n_patches, "the words and the highlight agree"
        assert len(atom_use(request, restoration, number).rects) == len(users)
        if len(users) > 150:  # of many patches, one or the other fits any place
            continue
        rebuilt = [
            selection.ground_set.atoms[:, selection.supports[t]] @ selection.coefficients[t] for t in users
        ]
        for rect in atom_use(request, restoration, number).rects:
            seen = ~mask[rect.slices].ravel()
            values = (original[rect.slices].ravel()[seen] - low) / (high - low)
            errors = [np.square(each[seen] - values).mean() for each in rebuilt]
            n_rects, n_right = n_rects + 1, n_right + (min(errors) < 1e-3)
    assert n_rects > 50
    assert n_right > 0.75 * n_rects, "half of them fit by chance"
