const ROUNDS = 64
const BLOCK_BYTES = 64

/** The first 32 bits of the fractional parts of the roots of the first primes: square roots, then cube roots. */
const { START, CONSTANTS } = primeRoots()

function primeRoots() {
  const primes: number[] = []
  for (let n = 2; primes.length < ROUNDS; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n)
  const bits = (root: number) => ((root - Math.floor(root)) * 2 ** 32) | 0
  return {
    START: primes.slice(0, 8).map((prime) => bits(Math.sqrt(prime))),
    CONSTANTS: primes.map((prime) => bits(Math.cbrt(prime))),
  }
}

const rotated = (word: number, by: number): number => (word >>> by) | (word << (32 - by))

/** SHA-256 of a text in UTF-8, as hex. Web Crypto has it only as a promise and only on secure origins. */
export function sha256(text: string): string {
  const bytes = padded(new TextEncoder().encode(text))
  const state = Int32Array.from(START)
  const words = new Int32Array(ROUNDS)
  for (let at = 0; at < bytes.byteLength; at += BLOCK_BYTES) addBlock(state, words, bytes, at)
  return [...state].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
}

/** The text, one bit, zeros, and its length in bits, to whole blocks. */
function padded(text: Uint8Array): DataView {
  const size = Math.ceil((text.length + 9) / BLOCK_BYTES) * BLOCK_BYTES
  const bytes = new Uint8Array(size)
  bytes.set(text)
  bytes[text.length] = 0x80
  const view = new DataView(bytes.buffer)
  view.setUint32(size - 8, Math.floor(text.length / 2 ** 29))
  view.setUint32(size - 4, (text.length * 8) >>> 0)
  return view
}

function addBlock(state: Int32Array, words: Int32Array, bytes: DataView, start: number): void {
  const word = (at: number): number => words[at] as number
  for (let at = 0; at < 16; at++) words[at] = bytes.getInt32(start + at * 4)
  for (let at = 16; at < ROUNDS; at++) {
    const [near, far] = [word(at - 2), word(at - 15)]
    const one = rotated(near, 17) ^ rotated(near, 19) ^ (near >>> 10)
    const zero = rotated(far, 7) ^ rotated(far, 18) ^ (far >>> 3)
    words[at] = one + word(at - 7) + zero + word(at - 16)
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  for (let at = 0; at < ROUNDS; at++) {
    const choice = (e & f) ^ (~e & g)
    const one =
      h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + choice + (CONSTANTS[at] as number) + word(at)
    const majority = (a & b) ^ (a & c) ^ (b & c)
    const two = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + majority
    ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0]
  }
  for (const [at, value] of [a, b, c, d, e, f, g, h].entries()) state[at] = (state[at] as number) + value
}
