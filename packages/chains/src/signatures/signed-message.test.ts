import type { Wallet } from '@market/core/ports/signatures'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { createSiweMessage, parseSiweMessage, validateSiweMessage } from 'viem/siwe'
import { expect, test } from 'vitest'
import { signedMessage } from './signed-message.ts'

const site = { domain: 'market.example', uri: 'https://market.example' }
const signedAtMs = 1_760_000_000_123
const signer = evmSigner()
const wallet: Wallet = { chain: 'base', address: signer.address, key: signer.address.toLowerCase() }

test('the text for an EVM wallet equals the EIP-4361 text of viem', () => {
  const text = signedMessage(site, wallet, signedAtMs, 'orders.approve:ord_1')
  const byViem = createSiweMessage({
    ...site,
    address: signer.address,
    statement:
      'Approve the order named below. Its payment then goes to the agent. Signing sends no transaction and costs nothing.',
    version: '1',
    chainId: 8453,
    nonce: String(signedAtMs),
    issuedAt: new Date(signedAtMs),
    expirationTime: new Date(signedAtMs + 300_000),
    requestId: 'orders.approve:ord_1',
  })
  expect(Buffer.from(text)).toEqual(Buffer.from(byViem))
})

test('the text parses and validates as EIP-4361', () => {
  const message = parseSiweMessage(signedMessage(site, wallet, signedAtMs, 'session'))
  const nonce = String(signedAtMs)
  expect(message).toMatchObject({ address: signer.address, nonce, requestId: 'session', chainId: 8453 })
  expect(validateSiweMessage({ message, domain: site.domain, nonce, time: new Date(signedAtMs) })).toBe(true)
})

test('the text for a Solana wallet has the same layout', async () => {
  const { address } = await solanaSigner()
  const text = signedMessage(site, { chain: 'solana', address, key: address }, signedAtMs, 'session')
  expect(text).toBe(`market.example wants you to sign in with your Solana account:
${address}

Show that you control this wallet, to read what belongs to it. This allows no change. Signing sends no transaction and costs nothing.

URI: https://market.example
Version: 1
Chain ID: mainnet
Nonce: 1760000000123
Issued At: 2025-10-09T08:53:20.123Z
Expiration Time: 2025-10-09T08:58:20.123Z
Request ID: session`)
})

test.each([
  ['seconds', 1_760_000_000],
  ['microseconds', 1_760_000_000_123_000],
  ['a fraction', 1_760_000_000_123.5],
  ['no number', Number.NaN],
  ['infinity', Number.POSITIVE_INFINITY],
  ['a negative number', -1_760_000_000_123],
  ['zero', 0],
])('a time in %s is rejected as invalid, naming milliseconds and seconds', (_name, time) => {
  expect(() => signedMessage(site, wallet, time, 'session')).toThrow(
    expect.objectContaining({ kind: 'invalid', message: expect.stringMatching(/milliseconds.*seconds/) }),
  )
})

test.each([
  ['with a line break', 'session\nResources:'],
  ['with a carriage return', 'session\r'],
  ['with a line separator', 'session\u2028'],
  ['with a direction override', 'session\u202e'],
  ['with half a character', 'agents.register:\ud800'],
  ['that is empty', ''],
  ['that is too long', `orders.pay:${'a'.repeat(513)}`],
  ['that no request uses', 'agents.ownr:agt_1'],
  ['named like a property of every object', 'constructor:agt_1'],
])('a purpose %s is rejected', (_name, purpose) => {
  expect(() => signedMessage(site, wallet, signedAtMs, purpose)).toThrow(
    expect.objectContaining({ kind: 'invalid' }),
  )
})
