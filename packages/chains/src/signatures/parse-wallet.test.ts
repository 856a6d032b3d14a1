import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { address, getBase58Decoder, getProgramDerivedAddress } from '@solana/kit'
import { expect, test } from 'vitest'
import { parseWallet } from './parse-wallet.ts'
import { SMALL_ORDER_KEYS } from './small-order-keys.ts'

test('an EVM wallet has an EIP-55 address and a lower-case key for any input case', () => {
  const { address } = evmSigner()
  const wallet = { chain: 'base', address, key: address.toLowerCase() }
  expect(parseWallet(address)).toEqual(wallet)
  expect(parseWallet(address.toLowerCase())).toEqual(wallet)
  expect(parseWallet(`0x${address.slice(2).toUpperCase()}`, 'base')).toEqual(wallet)
})

test('a Solana wallet is not changed', async () => {
  const { address } = await solanaSigner()
  expect(parseWallet(address)).toEqual({ chain: 'solana', address, key: address })
  expect(parseWallet(address, 'solana')).toEqual({ chain: 'solana', address, key: address })
})

test('rejects an address of another chain', async () => {
  expect(parseWallet(evmSigner().address, 'solana')).toBeUndefined()
  expect(parseWallet((await solanaSigner()).address, 'base')).toBeUndefined()
})

test.each(SMALL_ORDER_KEYS)(
  'rejects the small-order key %s, for which anyone can forge signatures',
  (hex) => {
    const text = getBase58Decoder().decode(Buffer.from(hex, 'hex'))
    expect(parseWallet(text)).toBeUndefined()
    expect(parseWallet(text, 'solana')).toBeUndefined()
  },
)

test('the list contains every encoding of the eight small-order points', () => {
  expect(new Set(SMALL_ORDER_KEYS).size).toBe(14)
})

test('rejects a program-derived address, which has no key', async () => {
  const programAddress = address('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
  const [derived] = await getProgramDerivedAddress({ programAddress, seeds: ['treasury'] })
  expect(parseWallet(derived)).toBeUndefined()
})

test.each([
  ['the System Program', '11111111111111111111111111111111'],
  ['the zero address', `0x${'0'.repeat(40)}`],
  ['a precompile', `0x${'4'.padStart(40, '0')}`],
  ['a short EVM address', '0x123'],
  ['an EVM address with an upper-case prefix', `0X${'ab'.repeat(20)}`],
  ['an EVM address without its prefix', 'ab'.repeat(20)],
  ['an EVM address with a space after it', `0x${'ab'.repeat(20)} `],
  ['an EVM address with a line after it', `0x${'ab'.repeat(20)}\n`],
  ['plain words', 'not-an-address'],
  ['nothing', ''],
  ['base58 of the wrong length', '1'.repeat(44)],
  ['a very long text', '1'.repeat(1_000_000)],
])('rejects %s', (_name, text) => {
  expect(parseWallet(text)).toBeUndefined()
})
