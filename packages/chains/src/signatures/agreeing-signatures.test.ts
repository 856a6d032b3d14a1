import { startAnvil } from '@market/testing/anvil'
import { evmSigner } from '@market/testing/evm-signer'
import { smartWallet } from '@market/testing/smart-wallet'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, expect, test } from 'vitest'
import { agreeingSignatures } from './agreeing-signatures.ts'
import { brokenNode } from './test-relay.ts'
import { apiError, proofBy } from './test-support.ts'
import { walletSignatures } from './wallet-signatures.ts'

const anvil = await startAnvil({ chainId: 8453 })
const rpcResult = (result: string) => JSON.stringify({ jsonrpc: '2.0', id: 1, result })
/** Both of them confirm every signature: one of a deployed wallet, the other of a wallet that is not deployed. */
const lying = await brokenNode(200, rpcResult(`0x1626ba7e${'0'.repeat(56)}`))
const lyingToo = await brokenNode(200, rpcResult('0x01'))
const broken = await brokenNode(502, '<html>Bad Gateway</html>')
afterAll(async () => {
  for (const node of [lying, lyingToo, broken, anvil]) await node.stop()
})

const now = new Date('2026-03-01T12:00:00.000Z')
const site = { domain: 'market.example', uri: 'https://market.example' }
const signaturesBy = (...evmRpcUrls: string[]) =>
  walletSignatures({ ...site, evmRpcUrls, rpcTimeoutMs: 3_000 })
const agreeing = (required: number, ...urls: string[]) =>
  agreeingSignatures(
    urls.map((url) => signaturesBy(url)),
    required,
  )

const owner = evmSigner()
const wallet = await smartWallet(anvil.url, owner)
const counterfactual = { address: wallet.address, sign: wallet.signCounterfactual }
const valid = await proofBy(signaturesBy(), counterfactual, now, 'session')
const forged = { ...valid, signature: await evmSigner().sign('something else') }
const rejected = { kind: 'unauthenticated', extra: { code: 'bad_signature' } }
const undecided = { kind: 'unavailable', extra: { retryAfterSeconds: 2 } }
const verdict = (signatures: ReturnType<typeof agreeing>, proof: typeof valid) =>
  apiError(signatures.verify(proof, 'session', now))

test('a signature that one provider confirms and another rejects is rejected, in any order', async () => {
  await signaturesBy(lying.url).verify(forged, 'session', now)
  for (const urls of [
    [lying.url, anvil.url],
    [anvil.url, lying.url],
  ])
    for (const required of [1, 2])
      expect(await verdict(agreeing(required, ...urls), forged)).toMatchObject(rejected)
})

test('a signature that fewer providers than required confirm is neither accepted nor rejected', async () => {
  expect(await verdict(agreeing(2, lying.url, broken.url), forged)).toMatchObject(undecided)
  expect(await verdict(agreeing(2, broken.url, anvil.url), valid)).toMatchObject(undecided)
  expect(await verdict(agreeing(2, anvil.url), valid)).toMatchObject(undecided)
  expect(await verdict(agreeing(1, broken.url), valid)).toMatchObject(undecided)
})

test('a signature that as many providers as required confirm is accepted with its network', async () => {
  for (const signatures of [
    agreeing(2, anvil.url, lyingToo.url),
    agreeing(2, broken.url, anvil.url, lyingToo.url),
    agreeing(1, broken.url, anvil.url),
  ])
    expect(await signatures.verify(valid, 'session', now)).toBe('base-mainnet')
})

test('a key signature is accepted without a node', async () => {
  const withoutNodes = agreeingSignatures([signaturesBy()], 2)
  for (const signer of [owner, await solanaSigner()]) {
    const proof = await proofBy(signaturesBy(), signer, now, 'session')
    expect(await withoutNodes.verify(proof, 'session', now)).toBe('key')
    expect(await agreeing(2, broken.url, anvil.url).verify(proof, 'session', now)).toBe('key')
    expect(await verdict(withoutNodes, { ...proof, signedAtMs: proof.signedAtMs - 1 })).toMatchObject(
      signer === owner ? undecided : rejected,
    )
  }
})

test('requires at least one provider', () => {
  expect(() => agreeingSignatures([], 1)).toThrow(/at least one provider/)
})
