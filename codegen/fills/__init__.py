"""Fills and other functions that describe the routines of the catalogue, by topic."""

from setwise.codegen.fills import batch as batch
from setwise.codegen.fills import blockers as blockers
from setwise.codegen.fills import bytewise as bytewise
from setwise.codegen.fills import dumb7 as dumb7
from setwise.codegen.fills import exploding as exploding
from setwise.codegen.fills import kogge_stone as kogge_stone
from setwise.codegen.fills import leapers as leapers
from setwise.codegen.fills import push as push
from setwise.codegen.fills import sides as sides
from setwise.codegen.fills import sliders as sliders
from setwise.codegen.fills import subtraction as subtraction
