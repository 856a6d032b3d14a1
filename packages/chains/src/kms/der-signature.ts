import { assert } from '@market/kernel/assert'

const SEQUENCE = 0x30
const INTEGER = 0x02

/** Reads one integer and returns it with the remaining bytes. */
const readInteger = (bytes: Buffer): readonly [bigint, Buffer] => {
  const length = bytes[1] ?? 0
  assert(
    bytes[0] === INTEGER && length > 0 && length <= 33 && bytes.length >= 2 + length,
    'the signature contains a DER integer',
  )
  return [BigInt(`0x${bytes.subarray(2, 2 + length).toString('hex')}`), bytes.subarray(2 + length)]
}

/** Parses an ECDSA signature of a KMS: a DER sequence of two integers. */
export const parseDerSignature = (der: Uint8Array): { readonly r: bigint; readonly s: bigint } => {
  const bytes = Buffer.from(der)
  assert(bytes[0] === SEQUENCE && bytes[1] === bytes.length - 2, 'the signature is a DER sequence')
  const [r, afterR] = readInteger(bytes.subarray(2))
  const [s, rest] = readInteger(afterR)
  assert(rest.length === 0, 'no bytes follow the ECDSA signature')
  return { r, s }
}
