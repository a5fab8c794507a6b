"""What ps3-depth gives in its locked cells, for running catalogued answers outside a notebook.

With the answers that tables build on, and without the images: the suites of `train` send their own.
"""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from autograder.reference.depth import ConvStack, ConvStackPartial, ConvStackPostNorm, measure_gradient

COLOURS = {"plain": "#D55E00", "naive": "#E69F00", "prenorm": "#0072B2", "postnorm": "#009E73"}
MARKERS = {"plain": "o", "naive": "^", "prenorm": "s", "postnorm": "D"}

__all__ = [
    "COLOURS",
    "MARKERS",
    "ConvStack",
    "ConvStackPartial",
    "ConvStackPostNorm",
    "F",
    "math",
    "measure_gradient",
    "nn",
    "np",
    "plt",
    "torch",
]
