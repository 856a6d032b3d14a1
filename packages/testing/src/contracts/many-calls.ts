import { type Address, concat, type Hex, size, toHex } from 'viem'

const STEP_BYTES = 39
const STOP = '0x00'

/** Copies `length` bytes of the code from `offset` to memory, calls `to` with them and ignores the result. */
const step = (to: Address, offset: number, length: number): Hex => {
  const [at, bytes] = [toHex(offset, { size: 2 }), toHex(length, { size: 2 })]
  const copy = concat(['0x61', bytes, '0x61', at, '0x5f39'])
  return concat([copy, '0x5f5f61', bytes, '0x5f5f73', to, '0x5af150'])
}

/** Creation code that makes all these calls in one transaction and leaves an empty contract behind. */
export const manyCalls = (to: Address, calls: readonly Hex[]): Hex => {
  let offset = calls.length * STEP_BYTES + 1
  const steps = calls.map((data) => {
    const code = step(to, offset, size(data))
    offset += size(data)
    return code
  })
  return concat([...steps, STOP, ...calls])
}
