from x_transformers.x_transformers import RotaryEmbedding

for width in (4, 2):
    try:
        print(width, RotaryEmbedding(width).inv_freq.tolist())
    except ZeroDivisionError as error:
        print(width, error)
