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


def log_softmax(x):
    return torch.log_softmax(x, 1)


def rms_norm_added(x, r, b, w):
    return rms_norm(x + r + b, w)


def cross_entropy(x, c):
    return functional.cross_entropy(x, c.long(), reduction="none")


def softmax_grad(y, g):
    return torch._softmax_backward_data(g, y, 1, y.dtype)


def log_softmax_grad(y, g):
    return torch._log_softmax_backward_data(g, y, 1, y.dtype)


def layer_norm_grad(x, w, m, s, g):
    wanted = [True, False, False]
    return torch.ops.aten.native_layer_norm_backward(g, x, w.shape, m[:, None], s[:, None], w, w, wanted)[0]


def rms_norm_grad(x, w, s, g):
    scaled, scale = g * w, s[:, None]
    mean = (scaled * x).sum(1, keepdim=True) / x.shape[1]
    return (scaled - x * (mean * scale * scale)) * scale


def cross_entropy_grad(x, c, g):
    chosen = c[:, None] == torch.arange(x.shape[1], device=x.device)
    return (torch.softmax(x, 1) - chosen.to(x.dtype)) * g[:, None]


def prefix_sum(x):
    return x.cumsum(0, dtype=x.dtype)


def segment_prefix_sum(x, f):
    total, place = x.cumsum(0), torch.arange(len(x), device=x.device)
    first = torch.where(f != 0, place, -1).cummax(0).values
    return total - torch.where(first < 0, 0, (total - x)[first])


def kept(x):
    return x[x > 0]


def row_prefix_sum(x):
    return x.cumsum(1)


def row_greatest(x):
    return x.cummax(1).values


def column_prefix_sum(x):
    return x.cumsum(0)


def histogram(x):
    return torch.bincount(x, minlength=256)


def embedding(at, w):
    return functional.embedding(at, w)


def gemv_n(a, x):
    return a @ x


def gemv_t(a, x):
    return a.t() @ x


def product(a, b):
    return a @ b


def product_tn(a, b):
    return b.t() @ a


def depthwise(x, w):
    return functional.conv2d(x, w[:, None], padding=w.shape[1] // 2, groups=w.shape[0])


def linear(x, w, b):
    return functional.linear(x, w, b)


def conv_nhwc(x, w, padding=0):
    """Channels last in memory, as cuDNN takes them, too."""
    return functional.conv2d(x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1), padding=padding).permute(0, 2, 3, 1)


def conv_nchw(x, w):
    return functional.conv2d(x, w)


def conv_same(x, w):
    return conv_nhwc(x, w, 1)


def attention(q, k, v, is_causal=False):
    """Attention of the first dimension's heads."""
    return functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=is_causal)[0]


def causal(q, k, v):
    return attention(q, k, v, True)


def nearest(x):
    return functional.interpolate(x, scale_factor=2, mode="nearest")


def bilinear(x):
    return functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)


def shuffled(x):
    return functional.pixel_shuffle(x, 2)


def padded(x):
    return functional.pad(x, (2, 2, 1, 1))


def rolled(x):
    return torch.roll(x, (1, 1), (2, 3))


def windows(x):
    """The 3 x 3 neighbours of each pixel: channels, rows and columns of the window, then those of the image."""
    return functional.unfold(x, 3, padding=1).reshape(*x.shape[:2], 3, 3, *x.shape[2:])


def last(x):
    return x.permute(0, 2, 3, 1).contiguous()


def exchanged(x):
    return x.permute(0, 2, 1, 3).contiguous()


def outer(x, z):
    return x[:, :, None] * z[:, None]


def beside(x, z):
    return torch.cat((x, z), 2)


def above(x, z):
    return torch.cat((x, z), 1)


def turned_pairs(x, c, s):
    """A rotary position embedding of pairs of neighbours."""
    even, odd, c, s = x[..., 0::2], x[..., 1::2], c[:, None], s[:, None]
    return torch.stack((even * c - odd * s, odd * c + even * s), -1).flatten(-2).to(x.dtype)


def turned_halves(x, c, s):
    """The same of pairs half a head apart."""
    (low, high), c, s = x.chunk(2, -1), c[:, None], s[:, None]
    return torch.cat((low * c - high * s, high * c + low * s), -1).to(x.dtype)


DEFINITIONS = {f.__name__: f for f in (
    add, softmax, log_softmax, rms_norm, rms_norm_added, layer_norm, cross_entropy, softmax_grad, log_softmax_grad,
    layer_norm_grad, rms_norm_grad, cross_entropy_grad, row_sum, col_sum, total, prefix_sum, segment_prefix_sum,
    kept, row_prefix_sum, row_greatest, column_prefix_sum, histogram, embedding, transpose, gemv_n, gemv_t, product,
    product_tn, depthwise, linear, conv_nhwc, conv_nchw, conv_same, attention,
    causal, nearest, bilinear, shuffled, padded, rolled, windows, last, exchanged, outer, beside, above, turned_pairs,
    turned_halves)}

ORDERS = ((0, 2, 1), (2, 1, 0), (1, 2, 0), (1, 0, 2))
DEFINITIONS |= {"permute_" + "".join(map(str, order)): lambda x, order=order: x.permute(order).contiguous()
                for order in ORDERS}
# The greatest elements of each row; where they are is a second result of the kernels, which is not looked at.
DEFINITIONS |= {f"top_{k}": lambda x, k=k: torch.topk(x, k, 1).values for k in (8, 32)}
# A letter for each matrix of a product of batches: n, or t if it is transposed.
LAYOUTS = {"n": lambda x: x, "t": lambda x: x.mT}
DEFINITIONS |= {f"batched_{a}{b}": lambda x, y, a=a, b=b: LAYOUTS[a](x) @ LAYOUTS[b](y)
                for a in LAYOUTS for b in LAYOUTS}

# What makes random inputs those of a definition: indices in their range, and what is a result elsewhere.
FITTED = {
    "cross_entropy": lambda x, c: c.random_(0, x.shape[1]),
    "cross_entropy_grad": lambda x, c, g: c.random_(0, x.shape[1]),
    "log_softmax_grad": lambda y, g: y.copy_(log_softmax(y)),
    "segment_prefix_sum": lambda x, f: f.bernoulli_(0.01),
    "histogram": lambda x: x.random_(0, 256),
    "embedding": lambda at, w: at.random_(0, w.shape[0]),
}

# The bytes moved, where they are not those of all operands, of inputs and the result.
MOVED = {
    "embedding": lambda inputs, out: inputs[0].nbytes + 2 * out.nbytes,
    "kept": lambda inputs, out: inputs[0].nbytes + out.nbytes,
}

# The result that says how many elements the first one has, which has room for more.
COUNTED = {"kept": "count"}
