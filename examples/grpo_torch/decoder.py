"""A decoder-only transformer as Llama and Qwen have it: RMS norm, rotary embedding, grouped-query attention, SwiGLU,
tied embeddings. Weights are random."""

import dataclasses

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


@dataclasses.dataclass
class Shape:
    name: str
    layers: int
    hidden: int
    intermediate: int
    heads: int
    kv_heads: int
    head_dim: int
    vocabulary: int


# Published shapes, and small ones between and below them.
SHAPES = {
    shape.name: shape
    for shape in [
        Shape("tiny", 2, 64, 192, 4, 2, 16, 512),
        Shape("0.1B", 12, 640, 1920, 10, 2, 64, 32000),
        Shape("0.2B", 16, 896, 2688, 14, 2, 64, 32000),
        Shape("Qwen2.5-0.5B", 24, 896, 4864, 14, 2, 64, 151936),
        Shape("0.5B", 24, 1152, 3840, 18, 6, 64, 32000),
        Shape("0.8B", 24, 1536, 4608, 12, 4, 128, 32000),
        Shape("1.2B", 28, 1792, 5376, 14, 2, 128, 32000),
        Shape("Qwen2.5-1.5B", 28, 1536, 8960, 12, 2, 128, 151936),
    ]
}


def rotary_tables(shape, length, device):
    frequency = 1.0 / 10000 ** (torch.arange(0, shape.head_dim, 2, device=device).float() / shape.head_dim)
    angle = torch.outer(torch.arange(length, device=device).float(), frequency)
    angle = torch.cat([angle, angle], dim=-1)
    return angle.cos(), angle.sin()


def rotate(x, cos, sin):
    """x: [batch, heads, tokens, head_dim]; cos and sin: [tokens, head_dim]."""
    half = x.shape[-1] // 2
    turned = torch.cat([-x[..., half:], x[..., :half]], dim=-1)
    return x * cos.to(x.dtype) + turned * sin.to(x.dtype)


def causal_attention(q, k, v):
    """All tokens at once; a group of query heads shares a head of keys and values."""
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
    if hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).tril()
    return scores.masked_fill(~mask, float("-inf")).softmax(-1) @ v


def decode_attention(q, k, v, allowed):
    """One new token: q [batch, heads, 1, d] against a cache [batch, kv_heads, tokens, d]; allowed: [tokens]."""
    batch, heads, _, dim = q.shape
    grouped = q.view(batch, k.shape[1], heads // k.shape[1], dim)
    scores = grouped @ k.transpose(-1, -2) * dim**-0.5
    weights = scores.masked_fill(~allowed, float("-inf")).softmax(-1, dtype=torch.float32).to(q.dtype)
    return (weights @ v).view(batch, heads, 1, dim)


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        scale = torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6)
        return (x.float() * scale).to(x.dtype) * self.weight


class Layer(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        width = (shape.heads + 2 * shape.kv_heads) * shape.head_dim
        self.norm1, self.norm2 = RmsNorm(shape.hidden), RmsNorm(shape.hidden)
        self.qkv = nn.Linear(shape.hidden, width, bias=False)
        self.output = nn.Linear(shape.heads * shape.head_dim, shape.hidden, bias=False)
        self.gate_up = nn.Linear(shape.hidden, 2 * shape.intermediate, bias=False)
        self.down = nn.Linear(shape.intermediate, shape.hidden, bias=False)

    def project(self, x, cos, sin):
        shape = self.shape
        q, k, v = self.qkv(self.norm1(x)).split(
            [shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim, shape.kv_heads * shape.head_dim], dim=-1
        )
        q, k, v = (t.unflatten(-1, (-1, shape.head_dim)).transpose(1, 2) for t in (q, k, v))
        return rotate(q, cos, sin), rotate(k, cos, sin), v

    def finish(self, x, attended):
        x = x + self.output(attended.transpose(1, 2).flatten(-2))
        gate, up = self.gate_up(self.norm2(x)).chunk(2, dim=-1)
        return x + self.down(F.silu(gate) * up)

    def forward(self, x, cos, sin):
        q, k, v = self.project(x, cos, sin)
        return self.finish(x, causal_attention(q, k, v))

    def prefill(self, x, cos, sin, keys, values):
        q, k, v = self.project(x, cos, sin)
        keys[:, :, : k.shape[2]], values[:, :, : v.shape[2]] = k, v
        return self.finish(x, causal_attention(q, k, v))

    def decode(self, x, cos, sin, keys, values, position, allowed):
        """keys and values: the first `allowed` tokens of the cache; position: [1], where the new one goes."""
        q, k, v = self.project(x, cos, sin)
        keys.index_copy_(2, position, k)
        values.index_copy_(2, position, v)
        return self.finish(x, decode_attention(q, keys, values, allowed))


class Decoder(nn.Module):
    def __init__(self, shape, longest, recompute=False):
        super().__init__()
        self.shape, self.recompute = shape, recompute
        self.embedding = nn.Embedding(shape.vocabulary, shape.hidden)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.norm = RmsNorm(shape.hidden)
        nn.init.normal_(self.embedding.weight, std=0.02)
        cos, sin = rotary_tables(shape, longest, "cpu")
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def logits(self, x):
        return F.linear(self.norm(x), self.embedding.weight)

    def hidden(self, tokens):
        x = self.embedding(tokens)
        cos, sin = self.cos[: tokens.shape[1]], self.sin[: tokens.shape[1]]
        for layer in self.layers:
            if self.recompute and torch.is_grad_enabled():
                x = checkpoint(layer, x, cos, sin, use_reentrant=False)
            else:
                x = layer(x, cos, sin)
        return x

    def response_log_probs(self, tokens, prompt_tokens):
        """Log-probabilities of the tokens behind the prompt: [batch, response tokens]."""
        x = self.hidden(tokens[:, :-1])[:, prompt_tokens - 1 :]
        return token_log_probs(self.logits(x), tokens[:, prompt_tokens:])


def token_log_probs(logits, tokens):
    flat = F.cross_entropy(logits.float().flatten(0, -2), tokens.flatten(), reduction="none")
    return -flat.view(tokens.shape)
