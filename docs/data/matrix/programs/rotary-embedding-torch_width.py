from rotary_embedding_torch import RotaryEmbedding

for width in (4, 2):
    try:
        print(width, RotaryEmbedding(width).freqs.tolist())
    except ZeroDivisionError as error:
        print(width, error)
