"""Generation with a KV cache; decode steps can be replayed from CUDA graphs."""

import torch


class Rollout:
    """Generates for a fixed number of sequences and fixed lengths, so that buffers and graphs are made once.

    A decode step attends to the first `bucket` tokens of the cache, the context rounded up to BUCKET, and there is
    one graph for each bucket: what a step reads grows with the context, as in a serving engine.
    """

    BUCKET = 128

    def __init__(self, model, sequences, prompt_tokens, response_tokens, cuda_graphs):
        self.model, self.prompt_tokens, self.response_tokens = model, prompt_tokens, response_tokens
        self.total = prompt_tokens + response_tokens
        self.cuda_graphs = cuda_graphs
        shape, weight = model.shape, model.embedding.weight
        length = -(-self.total // self.BUCKET) * self.BUCKET
        size = (shape.layers, sequences, shape.kv_heads, length, shape.head_dim)
        self.keys = torch.zeros(size, dtype=weight.dtype, device=weight.device)
        self.values = torch.zeros_like(self.keys)
        self.places = torch.arange(length, device=weight.device)
        self.token = torch.zeros(sequences, 1, dtype=torch.long, device=weight.device)
        self.position = torch.zeros(1, dtype=torch.long, device=weight.device)
        self.log_prob = torch.zeros(sequences, device=weight.device)
        self.graphs = {}

    def _sample(self, logits):
        """Gumbel-max sampling: no synchronisation with the host, and it can be captured."""
        log_probs = logits.float().log_softmax(-1)
        noise = -torch.empty_like(log_probs).exponential_().log()
        token = (log_probs + noise).argmax(-1, keepdim=True)
        self.token.copy_(token)
        self.log_prob.copy_(log_probs.gather(-1, token).squeeze(-1))

    def _step(self, bucket):
        model = self.model
        allowed = self.places[:bucket] <= self.position
        cos, sin = model.cos.index_select(0, self.position), model.sin.index_select(0, self.position)
        x = model.embedding(self.token)
        for i, layer in enumerate(model.layers):
            keys, values = self.keys[i, :, :, :bucket], self.values[i, :, :, :bucket]
            x = layer.decode(x, cos, sin, keys, values, self.position, allowed)
        self._sample(model.logits(x[:, -1]))

    def _decode(self, bucket):
        if not self.cuda_graphs:
            return self._step(bucket)
        if bucket not in self.graphs:
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            # What is run before the capture writes where the next replay writes again.
            token = self.token.clone()
            with torch.cuda.stream(side):
                self._step(bucket)
            torch.cuda.current_stream().wait_stream(side)
            self.token.copy_(token)
            self.graphs[bucket] = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graphs[bucket]):
                self._step(bucket)
            self.token.copy_(token)
        self.graphs[bucket].replay()

    @torch.no_grad()
    def generate(self, prompts, prefill_sequences):
        """prompts: [sequences, prompt tokens]. Returns all tokens and the log-probabilities of the responses."""
        model = self.model
        cos, sin = model.cos[: self.prompt_tokens], model.sin[: self.prompt_tokens]
        last = []
        for begin in range(0, prompts.shape[0], prefill_sequences):
            rows = slice(begin, begin + prefill_sequences)
            x = model.embedding(prompts[rows])
            for i, layer in enumerate(model.layers):
                x = layer.prefill(x, cos, sin, self.keys[i, rows], self.values[i, rows])
            last.append(x[:, -1])
        self._sample(model.logits(torch.cat(last)))
        tokens, log_probs = [prompts, self.token.clone()], [self.log_prob.clone()]
        for position in range(self.prompt_tokens, self.total - 1):
            self.position.fill_(position)
            self._decode(-(-(position + 1) // self.BUCKET) * self.BUCKET)
            tokens.append(self.token.clone())
            log_probs.append(self.log_prob.clone())
        return torch.cat(tokens, dim=1), torch.stack(log_probs, dim=1)
