import { expect, test } from 'vitest'
import { localSolanaSigner } from '../../local-signers.ts'
import { deriveMintKey } from './mint-key.ts'

const SEED = new Uint8Array(32).fill(7)
/** Calculated with another implementation of HKDF-SHA256. */
const DERIVED = {
  launch: 'a265ef766ced76753d7be8dc4ea1a2836abe0d912ebf77109970f2fddd16a801',
  identity: '05c50c56976f02a5212b726e1617558e9248b7e490f622791b501ef6d0aa2d6f',
}

test.each(['launch', 'identity'] as const)('%s: the mint of a wallet is always the same', async (purpose) => {
  const expected = await localSolanaSigner(Buffer.from(DERIVED[purpose], 'hex'))
  expect((await deriveMintKey(SEED, purpose)).address).toBe(expected.address)
  expect(SEED).toEqual(new Uint8Array(32).fill(7))
})

test('another wallet has other mints', async () => {
  const other = new Uint8Array(32).fill(8)
  const keys = await Promise.all(
    [SEED, other].flatMap((seed) => [deriveMintKey(seed, 'launch'), deriveMintKey(seed, 'identity')]),
  )
  expect(new Set(keys.map(({ address }) => address)).size).toBe(4)
})

test('rejects a seed of another length', async () => {
  await expect(deriveMintKey(new Uint8Array(31), 'launch')).rejects.toThrow(/32 bytes/)
})
