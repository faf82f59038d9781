"""Makes a random model of Qwen3's 1.7 B shape in bfloat16: `python benchmarks/gpu/model.py FOLDER`."""

from __future__ import annotations

import sys

import torch
from transformers import Qwen3Config, Qwen3ForCausalLM


def main(folder: str) -> None:
    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=151_936, hidden_size=2_048, intermediate_size=6_144, num_hidden_layers=28,
        num_attention_heads=16, num_key_value_heads=8, head_dim=128, max_position_embeddings=2_048,
        tie_word_embeddings=True, rope_theta=1e6, bos_token_id=1, eos_token_id=2, pad_token_id=0,
        # Wider than usual: with 0.02 a random model repeats one token.
        initializer_range=0.03,
    )  # fmt: skip
    with torch.device("cuda"):
        model = Qwen3ForCausalLM(config).to(torch.bfloat16)
    print(sum(weight.numel() for weight in model.parameters()), "parameters", file=sys.stderr)
    model.cpu().save_pretrained(folder)


if __name__ == "__main__":
    main(sys.argv[1])
