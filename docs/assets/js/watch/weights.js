// Reads a file of weights. Its format is described in scripts/measure/weight_files.py: a head of 16
// bytes, a description in JSON, and the tensors. Matrices are stored with a byte for each entry and a
// scale for each row.

const MAGIC = "PEWT";
const VERSION = 1;
const HEAD = 16;
const AGAIN = "Reload the page to fetch them again.";

/** The description and the tensors of a file, each a Float32Array by its name; an Error says in a
    sentence why bytes are no such file. */
export function unpacked(buffer) {
  const view = new DataView(buffer);
  const isOurs = buffer.byteLength >= HEAD && ascii(buffer, 0, 4) === MAGIC;
  if (!isOurs) throw new Error(`What was fetched is not a file of weights. ${AGAIN}`);
  const [version, length, checksum] = [4, 8, 12].map((place) => view.getUint32(place, true));
  if (version !== VERSION) {
    throw new Error(
      `The weights have version ${version} of their format, and this page reads ${VERSION}. ${AGAIN}`,
    );
  }
  if (crc32(new Uint8Array(buffer, HEAD)) !== checksum) {
    throw new Error(`The weights are damaged, or did not arrive whole. ${AGAIN}`);
  }
  const about = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, HEAD, length)));
  return { about, tensors: tensorsOf(about.tensors, buffer, HEAD + length) };
}

const ascii = (buffer, from, to) => String.fromCharCode(...new Uint8Array(buffer.slice(from, to)));

function tensorsOf(shapes, buffer, start) {
  const tensors = {};
  let place = start;
  for (const [name, [rows, columns]] of shapes) {
    const first = new Float32Array(buffer, place, rows); // a vector, or the scales of a matrix
    tensors[name] = columns ? matrix(first, new Int8Array(buffer, place + 4 * rows, rows * columns)) : first;
    place += 4 * rows + 4 * Math.ceil((rows * (columns ?? 0)) / 4);
  }
  return tensors;
}

/** Each entry times the scale of its row. */
function matrix(scales, entries) {
  const columns = entries.length / scales.length;
  return Float32Array.from(entries, (entry, n) => entry * scales[Math.floor(n / columns)]);
}

const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  return rest;
});

/** The checksum of gzip and PNG. */
export function crc32(bytes) {
  let rest = -1;
  for (const byte of bytes) rest = TABLE[(rest ^ byte) & 255] ^ (rest >>> 8);
  return ~rest >>> 0;
}
