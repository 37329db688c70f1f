from fms.modules.positions import Alibi

try:
    print(Alibi(8).scales)
except AttributeError as error:
    print("Alibi(8):", error)
print("by the definition:", [2.0**-head for head in range(1, 9)])
