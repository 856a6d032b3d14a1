import { expect, test } from 'vitest'
import { localSolanaSigner } from '../../local-signers.ts'
import { deriveMintKey } from './mint-key.ts'
import { seedSigner } from './seed-signer.ts'

const SEED = new Uint8Array(32).fill(7)
/** Calculated with another implementation of HKDF-SHA256. */
const DERIVED = {
  launch: 'a265ef766ced76753d7be8dc4ea1a2836abe0d912ebf77109970f2fddd16a801',
  identity: '05c50c56976f02a5212b726e1617558e9248b7e490f622791b501ef6d0aa2d6f',
}

test.each(['launch', 'identity'] as const)('%s: the mint of a wallet is always the same', async (purpose) => {
  const expected = await localSolanaSigner(Buffer.from(DERIVED[purpose], 'hex'))
  expect(deriveMintKey(SEED, purpose).address).toBe(expected.address)
  expect(SEED).toEqual(new Uint8Array(32).fill(7))
})

test('another wallet has other mints', () => {
  const other = new Uint8Array(32).fill(8)
  const keys = [SEED, other].flatMap((seed) => [
    deriveMintKey(seed, 'launch'),
    deriveMintKey(seed, 'identity'),
  ])
  expect(new Set(keys.map(({ address }) => address)).size).toBe(4)
})

test('a seed of another length is rejected', () => {
  expect(() => deriveMintKey(new Uint8Array(31), 'launch')).toThrow(/32 bytes/)
  expect(() => seedSigner(new Uint8Array(33))).toThrow(/32 bytes/)
})

test('a signer of a seed has the address and signatures of the same key in Web Crypto', async () => {
  const [signer, expected] = [seedSigner(SEED), await localSolanaSigner(SEED)]
  const message = Buffer.from('message')
  expect(signer.address).toBe(expected.address)
  expect(Buffer.from(await signer.signMessage(message))).toEqual(
    Buffer.from(await expected.signMessage(message)),
  )
})
