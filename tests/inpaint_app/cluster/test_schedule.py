"""Blocks are handed out as soon as what they read has been written."""

from dataclasses import dataclass

import numpy as np
import pytest

from dictsel_core import ArraySpec
from inpaint_app.cluster.block_jobs import FinishedBlock
from inpaint_app.cluster.blocks import blocks_at, cut_into_blocks, stage_block
from inpaint_app.cluster.schedule import BlockStage, Schedule
from inpaint_app.image.rect import Rect

SHAPE = (100, 300)


def _stage(name, reads, block=100, plane=0, shape=SHAPE):
    def regions(rect):
        return [(each, rect.widened(10, shape)) for each in reads]

    def compute(rect):
        return FinishedBlock(name, plane, rect, 1.0)

    blocks = cut_into_blocks(shape, block)
    spec = ArraySpec(name, (*shape, 1), "bool")
    return BlockStage(name, plane, "code", 1.0, block, blocks, compute, regions, (name,), (spec,))


def _taken(blocks):
    """The blocks that can be computed now."""
    taken = []
    for block in blocks:
        if block is None:
            break
        taken.append((block[0].name, block[1].column))
    return taken


def test_a_block_waits_for_its_neighbors_alone() -> None:
    stages = [_stage("a", ["image"]), _stage("b", ["a"])]
    schedule = Schedule(stages, [each.blocks for each in stages])
    blocks = schedule.blocks()
    assert _taken(blocks) == [("a", 0), ("a", 100), ("a", 200)]
    for column, ready in ((0, []), (100, [("b", 0)])):
        schedule.finish(0, "a", Rect(0, column, 100, 100))
        assert _taken(blocks) == ready
    schedule.finish(0, "a", Rect(0, 200, 100, 100))
    assert _taken(blocks) == [("b", 100), ("b", 200)]
    assert list(blocks) == []


def test_blocks_that_were_done_before_are_not_waited_for() -> None:
    stages = [_stage("a", ["image"]), _stage("b", ["a"])]
    schedule = Schedule(stages, [stages[0].blocks[2:], stages[1].blocks])
    assert _taken(schedule.blocks()) == [("a", 200), ("b", 0)]


def test_an_array_is_released_when_nobody_is_left_that_reads_it() -> None:
    stages = [_stage("a", ["image"]), _stage("b", ["a"]), _stage("c", ["a", "b"])]
    schedule, released = Schedule(stages, [each.blocks for each in stages]), []
    for block in schedule.blocks():
        assert block is not None
        released.append((block[0].name, schedule.finish(0, block[0].name, block[1])[1]))
    assert [names for name, names in released if name in "ab"] == [[]] * 6
    assert sorted(released[-1][1]) == [(0, "a"), (0, "b"), (0, "c")]


def test_planes_do_not_wait_for_each_other() -> None:
    stages = [_stage("a", [], plane=0), _stage("b", ["a"], plane=0), _stage("a", [], plane=1)]
    schedule = Schedule(stages, [each.blocks for each in stages])
    assert len(_taken(schedule.blocks())) == 6


@dataclass
class _Stage:
    shape: tuple
    is_whole: bool = False


@pytest.mark.parametrize("shape", [(1, 1), (97, 1003), (512, 512), (3000, 20)])
@pytest.mark.parametrize("block", [64, 192, 1536])
def test_coarse_scales_are_shared_by_several_workers(shape, block) -> None:
    side = stage_block(_Stage(shape), (4000, 4000), block)
    assert side % 2 == 0
    assert min(block, 128) <= side <= block
    n_blocks = len(cut_into_blocks(shape, side))
    assert n_blocks >= 16 or side < 256
    assert stage_block(_Stage(shape), shape, block) == block
    assert len(cut_into_blocks(shape, stage_block(_Stage(shape, is_whole=True), shape, block))) == 1


def test_the_blocks_that_a_region_touches_are_all_named() -> None:
    touched = np.zeros((4, 5), bool)
    touched[1:3, 2:5] = True
    assert list(blocks_at(Rect(70, 128, 100, 130), 64)) == [tuple(at) for at in np.argwhere(touched)]
