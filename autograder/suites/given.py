"""Given code that lines of suites bring along: what a student made of the name is not asked.

The text is that of the notebook's locked cell; a test holds one to the other.
"""

#: The cell `stack` of ps3-depth.
STACK = '''
from torch import nn


class ConvStack(nn.Module):
    """A stem, `depth` blocks on `channels` maps, a mean over the image, a linear head."""

    MODES = ("plain", "naive", "prenorm")

    def __init__(self, depth=20, channels=16, n_classes=5, mode="plain", stem_stride=1):
        super().__init__()
        if mode not in self.MODES:
            raise ValueError(f"unknown mode {mode!r}; the modes are {self.MODES}")
        self.mode = mode
        self.stem = nn.Conv2d(3, channels, 3, stride=stem_stride, padding=1)
        self.convs = nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1) for _ in range(depth))
        self.norms = nn.ModuleList(nn.BatchNorm2d(channels) for _ in range(depth))
        self.act = nn.ReLU()
        self.head = nn.Linear(channels, n_classes)

    def block(self, i, h):
        """What block i makes of h: (batch, channels, height, width) -> the same shape."""
        conv, norm = self.convs[i], self.norms[i]
        if self.mode == "plain":
            return self.act(conv(h))
        if self.mode == "naive":
            return h + self.act(conv(h))
        return h + conv(self.act(norm(h)))

    def forward(self, x, trace=None):
        """x: (batch, 3, height, width) -> scores (batch, n_classes).

        A list given as `trace` gets the mean absolute activation after each block.
        """
        h = self.act(self.stem(x))
        for i in range(len(self.convs)):
            h = self.block(i, h)
            if trace is not None:
                trace.append(h.abs().mean().item())
        return self.head(h.mean(dim=(2, 3)))
'''
