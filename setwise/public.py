"""The public names. `X as X` tells type checkers that a name is public."""

# isort: off
from setwise.analysis.semantics.words import Word as Word
from setwise.analysis.spec import raywalk as _raywalk
from setwise.analysis.spec.closure import closure as closure
from setwise.codegen import fills as fills
from setwise.codegen.board import (
    ALL as ALL,
    BISHOP as BISHOP,
    DIR8 as DIR8,
    EAST as EAST,
    FILE_A as FILE_A,
    FILE_B as FILE_B,
    FILE_C as FILE_C,
    FILE_D as FILE_D,
    FILE_E as FILE_E,
    FILE_F as FILE_F,
    FILE_G as FILE_G,
    FILE_H as FILE_H,
    NOEA as NOEA,
    NORT as NORT,
    NOT_A as NOT_A,
    NOT_H as NOT_H,
    NOWE as NOWE,
    QUEEN as QUEEN,
    RANK_1 as RANK_1,
    RANK_2 as RANK_2,
    RANK_3 as RANK_3,
    RANK_4 as RANK_4,
    RANK_5 as RANK_5,
    RANK_6 as RANK_6,
    RANK_7 as RANK_7,
    RANK_8 as RANK_8,
    ROOK as ROOK,
    SOEA as SOEA,
    SOUT as SOUT,
    SOWE as SOWE,
    WEST as WEST,
    Direction as Direction,
    parse_board as parse_board,
)
from setwise.codegen.ir.control import (
    at_least as at_least,
    below as below,
    equal as equal,
    nonzero as nonzero,
    repeat as repeat,
    select as select,
    switch as switch,
    table as table,
    when as when,
    while_ as while_,
)
from setwise.codegen.ir.grid import Grid as Grid
from setwise.codegen.ir.kinds import (
    Board as Board,
    Bound as Bound,
    Dir8 as Dir8,
    Empty as Empty,
    Number as Number,
    Occupied as Occupied,
    Square as Square,
)
from setwise.codegen.ir.layout import Layout as Layout, halves as halves, union as union
from setwise.codegen.ir.ray import ray as ray
from setwise.codegen.ir.values import Ray as Ray, Value as Value, constant as constant
from setwise.codegen.own.definition import DescriptionError as DescriptionError
from setwise.codegen.run.function import Function as Function
from setwise.kernels import KernelFunction as KernelFunction, kernel as kernel
from setwise.own import OneDirection as OneDirection, OwnRoutine as OwnRoutine, call as call, routine as routine
from setwise.shown import Table as Table, Text as Text, show as show

spec = _raywalk
