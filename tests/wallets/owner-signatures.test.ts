import { chainSettings } from '@market/platform/settings/networks'
import { type Anvil, startAnvil } from '@market/testing/anvil'
import { evmSigner } from '@market/testing/evm-signer'
import { smartWallet } from '@market/testing/smart-wallet'
import { ownerSignatures } from '@market/worker/owner-signatures'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { type NodeRelay, relayTo } from '../chains/node-relay.ts'

const BASE_URL = 'https://market.example'
const now = new Date('2026-03-01T12:00:00.000Z')
const signedAtMs = now.getTime()

let anvil: Anvil
/** Confirms every signature. */
let lying: NodeRelay
beforeAll(async () => {
  anvil = await startAnvil({ chainId: 8453 })
  lying = await relayTo(anvil.url)
  const result = `0x1626ba7e${'0'.repeat(56)}`
  lying.mood = { kind: 'answer', status: 200, body: JSON.stringify({ jsonrpc: '2.0', id: 1, result }) }
})
afterAll(async () => {
  await lying.stop()
  await anvil.stop()
})

const signaturesOf = (settings: Readonly<Record<string, string>>) =>
  ownerSignatures({ ...z.object(chainSettings).parse(settings), BASE_URL })

async function proofs() {
  const key = evmSigner()
  const contract = await smartWallet(anvil.url, key)
  await contract.deploy()
  const signatures = signaturesOf({})
  const wallet = signatures.parseWallet(contract.address)
  const keyWallet = signatures.parseWallet(key.address)
  if (wallet === undefined || keyWallet === undefined) throw new Error('both are wallets')
  const text = signatures.messageToSign(wallet, signedAtMs, 'session')
  return {
    valid: { wallet, signedAtMs, signature: await contract.sign(text) },
    forged: { wallet, signedAtMs, signature: await evmSigner().sign(text) },
    byKey: {
      wallet: keyWallet,
      signedAtMs,
      signature: await key.sign(signatures.messageToSign(keyWallet, signedAtMs, 'session')),
    },
  }
}

test('a smart wallet signature needs the agreement of two providers of its network', async () => {
  const { valid, forged } = await proofs()
  const both = `${lying.url},${anvil.url}`
  const two = signaturesOf({ BASE_RPC_URLS: both })
  expect(await two.verify(valid, 'session', now)).toBe('base-mainnet')
  await expect(two.verify(forged, 'session', now)).rejects.toMatchObject({ kind: 'unauthenticated' })
  for (const settings of [
    { BASE_RPC_URLS: lying.url },
    { BASE_RPC_URLS: both, BASE_RPC_PROVIDERS: 'one,one' },
    // A provider of another network does not confirm a wallet on Base.
    { BASE_RPC_URLS: lying.url, ALT_RPC_URLS: anvil.url },
  ])
    await expect(signaturesOf(settings).verify(forged, 'session', now)).rejects.toMatchObject({
      kind: 'unavailable',
    })
})

test('ONE_PROVIDER: one provider is enough', async () => {
  const { valid } = await proofs()
  const one = signaturesOf({ BASE_RPC_URLS: anvil.url, ONE_PROVIDER: 'on' })
  expect(await one.verify(valid, 'session', now)).toBe('base-mainnet')
})

test('a key signature needs no node', async () => {
  const { byKey } = await proofs()
  for (const settings of [{}, { BASE_RPC_URLS: lying.url }])
    expect(await signaturesOf(settings).verify(byKey, 'session', now)).toBe('key')
})
