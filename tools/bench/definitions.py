"""What kernels compute, in PyTorch: in double precision the reference, else a peer."""

import torch
from torch.nn import functional

EPILOGUES = {
    "": lambda acc, bias: acc,
    "relu": lambda acc, bias: functional.relu(acc),
    "bias": lambda acc, bias: acc + bias,
    "bias_relu": lambda acc, bias: functional.relu(acc + bias),
    "bias_gelu": lambda acc, bias: functional.gelu(acc + bias),
    "bias_gelu_tanh": lambda acc, bias: functional.gelu(acc + bias, approximate="tanh"),
}


def add(a, b):
    return a + b


def softmax(x):
    return torch.softmax(x, 1)


def rms_norm(x, w):
    return functional.rms_norm(x, w.shape, w, 1e-5)


def layer_norm(x, w, b):
    return functional.layer_norm(x, w.shape, w, b, 1e-5)


def row_sum(x):
    return x.sum(1)


def col_sum(x):
    return x.sum(0)


def total(x):
    return x.sum().reshape(1)


def transpose(x):
    return x.t().contiguous()


def product(a, b):
    return a @ b


def product_tn(a, b):
    return b.t() @ a


def depthwise(x, w):
    return functional.conv2d(x, w[:, None], padding=w.shape[1] // 2, groups=w.shape[0])


DEFINITIONS = {f.__name__: f for f in (add, softmax, rms_norm, layer_norm, row_sum, col_sum, total,
                                       transpose, product, product_tn, depthwise)}
