"""Vectors of eight numbers of single or double precision, for kernels.

Numba leaves it to LLVM to compute several entries of arrays at once. LLVM has a kernel check before every
loop that arrays do not overlap, and keeps no sums of rows in registers: if loops have 40 or 64 entries, that
takes more time than the arithmetic. With these operations, a kernel says itself what is computed at once.
Every number of a vector has sums of its own, so results do not depend on how many numbers a processor adds
at once.

Machine code is kept until the module of a kernel changes, so a change of this one takes effect only then.
"""

import importlib
from collections.abc import Callable
from functools import cache
from inspect import Parameter, Signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dictsel_core._support.compiled import Arguments, Kernel, Result
from dictsel_core._support.validation import Floats

Single = NDArray[np.float32]
Number = np.floating[Any]
Place = int | np.uintp
Emit = Callable[..., Any]

#: Numbers of a vector.
WIDTH = 8
#: A product and a sum may become one instruction, as in all kernels.
_FUSED = ("contract",)


class Vector:
    """A vector in a kernel, which has variables of this type but no array of them."""


class Operation(Kernel[Arguments, Result]):
    """An operation on vectors; only kernels can call it. Use as a decorator of what has no body."""

    def _made(self) -> Callable[Arguments, Result]:
        made: Callable[Arguments, Result] = _intrinsics()[self._function.__name__]
        return made


@Operation
def load(array: Floats, at: Place) -> Vector:  # type: ignore[empty-body]
    """Return the entries of a one-dimensional array from an index on."""


@Operation
def store(array: Floats, at: Place, vector: Vector) -> None:
    """Set the entries of a one-dimensional array from an index on."""


@Operation
def splat(number: Number) -> Vector:  # type: ignore[empty-body]
    """Return a vector of equal numbers."""


@Operation
def add(left: Vector, right: Vector) -> Vector:  # type: ignore[empty-body]
    """Return the sum."""


@Operation
def subtract(left: Vector, right: Vector) -> Vector:  # type: ignore[empty-body]
    """Return the difference."""


@Operation
def multiply(left: Vector, right: Vector) -> Vector:  # type: ignore[empty-body]
    """Return the product, number by number."""


@Operation
def multiply_add(left: Vector, right: Vector, other: Vector) -> Vector:  # type: ignore[empty-body]
    """Return the product plus another vector."""


@Operation
def where_larger(left: Vector, right: Vector, one: Vector, other: Vector) -> Vector:  # type: ignore[empty-body]
    """Return the numbers of one vector where the left number is larger than the right, else of the other."""


@Operation
def smaller(left: Vector, right: Vector) -> Vector:  # type: ignore[empty-body]
    """Return the smaller of each two numbers; undefined if one is NaN."""


@Operation
def larger(left: Vector, right: Vector) -> Vector:  # type: ignore[empty-body]
    """Return the larger of each two numbers; undefined if one is NaN."""


@Operation
def total(vector: Vector) -> Number:  # type: ignore[empty-body]
    """Return the sum of the numbers of a vector: of pairs, of pairs of pairs, and so on."""


@cache
def _llvm() -> Any:  # noqa: ANN401  (a module without types)
    return importlib.import_module("llvmlite.ir")


@cache
def _intrinsics() -> dict[str, Any]:
    """Return what Numba makes of the operations, by their names."""
    types, extending = importlib.import_module("numba").types, importlib.import_module("numba.extending")

    class Lanes(types.Type):  # type: ignore[misc,name-defined]
        """The type of a vector of some numbers."""

        def __init__(self, dtype: Any) -> None:  # noqa: ANN401
            super().__init__(name=f"Vector({dtype})")
            self.dtype = dtype

    def model(manager: object, kind: Any) -> object:  # noqa: ANN401
        return extending.models.PrimitiveModel(manager, kind, _lanes(kind.dtype.bitwidth))

    extending.register_model(Lanes)(model)

    def intrinsic(emit: Emit, n_arguments: int, result: Callable[[Any], object]) -> Any:  # noqa: ANN401
        """Return an operation; its result depends on the type of its first argument."""

        def typed(_: object, *given: Any) -> tuple[object, Emit]:  # noqa: ANN401
            arguments = (types.uintp if isinstance(each, types.Integer) else each for each in given)
            return result(given[0])(*arguments), emit  # type: ignore[operator]

        # Numba looks at the names of parameters.
        names = ("context", "first", "second", "third", "fourth")[: n_arguments + 1]
        parameters = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names]
        typed.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        return extending.intrinsic(typed)

    def same(kind: object) -> object:
        return kind

    return {
        "load": intrinsic(_emit_load, 2, lambda array: Lanes(array.dtype)),
        "store": intrinsic(_emit_store, 3, lambda _: types.void),
        "splat": intrinsic(_emit_splat, 1, Lanes),
        "add": intrinsic(_emit_by("fadd"), 2, same),
        "subtract": intrinsic(_emit_by("fsub"), 2, same),
        "multiply": intrinsic(_emit_by("fmul"), 2, same),
        "multiply_add": intrinsic(_emit_multiply_add, 3, same),
        "where_larger": intrinsic(_emit_where_larger, 4, same),
        "smaller": intrinsic(_emit_call("llvm.minnum"), 2, same),
        "larger": intrinsic(_emit_call("llvm.maxnum"), 2, same),
        "total": intrinsic(_emit_total, 1, lambda vector: vector.dtype),
    }


def _lanes(n_bits: int) -> Any:  # noqa: ANN401
    """Return the vector of LLVM for numbers of 32 or 64 bits."""
    ir = _llvm()
    return ir.VectorType(ir.FloatType() if n_bits == 32 else ir.DoubleType(), WIDTH)


def _pointer(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:  # noqa: ANN401
    data = context.make_array(kind)(context, builder, array).data
    lanes = _lanes(kind.dtype.bitwidth).as_pointer()
    return builder.bitcast(builder.gep(data, [at], inbounds=True), lanes)


def _emit_load(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
    kind = signature.args[0]
    return builder.load(_pointer(context, builder, kind, *values), align=kind.dtype.bitwidth // 8)


def _emit_store(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
    (array, at, vector), kind = values, signature.args[0]
    builder.store(vector, _pointer(context, builder, kind, array, at), align=kind.dtype.bitwidth // 8)
    return context.get_dummy_value()


def _emit_splat(_: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
    ir, number = _llvm(), _llvm().IntType(32)
    undefined = ir.Constant(_lanes(signature.args[0].bitwidth), ir.Undefined)
    first = builder.insert_element(undefined, values[0], number(0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(number, WIDTH), [0] * WIDTH))


def _emit_by(method: str) -> Emit:
    def emit(_: Any, builder: Any, __: Any, values: Any) -> Any:  # noqa: ANN401
        return getattr(builder, method)(*values, flags=_FUSED)

    return emit


def _emit_multiply_add(_: Any, builder: Any, __: Any, values: Any) -> Any:  # noqa: ANN401
    left, right, other = values
    return builder.fadd(builder.fmul(left, right, flags=_FUSED), other, flags=_FUSED)


def _emit_where_larger(_: Any, builder: Any, __: Any, values: Any) -> Any:  # noqa: ANN401
    return builder.select(builder.fcmp_ordered(">", *values[:2]), *values[2:])


def _emit_call(name: str) -> Emit:
    """Return what calls a function of LLVM; of a choice by comparison it might make a slow masked store."""

    def emit(_: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
        kind, full = values[0].type, f"{name}.v{WIDTH}f{signature.args[0].dtype.bitwidth}"
        function = builder.module.globals.get(full)
        if function is None:
            function = _llvm().Function(builder.module, _llvm().FunctionType(kind, [kind, kind]), full)
        return builder.call(function, values, fastmath=("nnan", "nsz"))

    return emit


def _emit_total(_: Any, builder: Any, __: Any, values: Any) -> Any:  # noqa: ANN401
    lanes = range(WIDTH)
    parts = [builder.extract_element(values[0], _llvm().IntType(32)(lane)) for lane in lanes]
    while len(parts) > 1:
        parts = [builder.fadd(*parts[at : at + 2]) for at in range(0, len(parts), 2)]
    return parts[0]
