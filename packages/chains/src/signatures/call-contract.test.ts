import { startAnvil } from '@market/testing/anvil'
import { evmSigner } from '@market/testing/evm-signer'
import { smartWallet } from '@market/testing/smart-wallet'
import { afterAll, expect, test } from 'vitest'
import { brokenNode, type Relay, relayTo, stallingNode } from './test-relay.ts'
import { apiError, proofBy } from './test-support.ts'
import { walletSignatures } from './wallet-signatures.ts'

const anvil = await startAnvil({ chainId: 8453 })
const stoppedNode = async (): Promise<Relay> => {
  const node = await brokenNode(200, '')
  await node.stop()
  return { ...node, stop: async () => undefined }
}
const rpcError = (code: number, message: string) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code, message } })

const nodes = {
  'is not there': await stoppedNode(),
  'never finishes its answer': await stallingNode(),
  'limits our rate': await brokenNode(429, rpcError(-32005, 'limit exceeded')),
  'limits our rate with a status of 200': await brokenNode(
    200,
    rpcError(-32005, 'daily request count exceeded'),
  ),
  'has an internal error': await brokenNode(200, rpcError(-32603, 'Internal error')),
  'is behind a gateway that fails': await brokenNode(502, '<html>Bad Gateway</html>'),
  'answers without a result': await brokenNode(200, '{"jsonrpc":"2.0","id":1,"result":null}'),
  'says yes with a failing status': await brokenNode(500, '{"jsonrpc":"2.0","id":1,"result":"0x01"}'),
  'answers with no object': await brokenNode(200, 'null'),
}
const working = await relayTo(anvil.url)
afterAll(async () => {
  for (const node of [...Object.values(nodes), working]) await node.stop()
  await anvil.stop()
})

const now = new Date('2026-03-01T12:00:00.000Z')
const site = { domain: 'market.example', uri: 'https://market.example' }
const signaturesBy = (...evmRpcUrls: string[]) =>
  walletSignatures({ ...site, evmRpcUrls, rpcTimeoutMs: 3_000 })
const away = { kind: 'unavailable', extra: { retryAfterSeconds: 2 } }

const owner = evmSigner()
const wallet = await smartWallet(anvil.url, owner)
const counterfactual = { address: wallet.address, sign: wallet.signCounterfactual }
const smartProof = await proofBy(signaturesBy(), counterfactual, now, 'session')
const plainProof = await proofBy(signaturesBy(), owner, now, 'session')
const wrongProof = { ...plainProof, signature: await evmSigner().sign('something else') }

test.each(Object.entries(nodes))('when the only node %s, throws `unavailable`', async (_name, node) => {
  const signatures = signaturesBy(node.url)
  expect(await apiError(signatures.verify(smartProof, 'session', now))).toMatchObject(away)
  expect(await apiError(signatures.verify(wrongProof, 'session', now))).toMatchObject(away)
})

test.each(Object.entries(nodes))(
  'when the first node %s, the result of the second is used',
  async (_name, node) => {
    const signatures = signaturesBy(node.url, working.url)
    await signatures.verify(smartProof, 'session', now)
    const answer = await apiError(signatures.verify(wrongProof, 'session', now))
    expect(answer).toMatchObject({ kind: 'unauthenticated', extra: { code: 'bad_signature' } })
  },
)

test('a key signature is accepted while no node can be reached', async () => {
  await signaturesBy(nodes['is not there'].url).verify(plainProof, 'session', now)
  await signaturesBy().verify(plainProof, 'session', now)
})

test('throws `unavailable` for a smart wallet signature when no node is configured', async () => {
  expect(await apiError(signaturesBy().verify(smartProof, 'session', now))).toMatchObject(away)
  expect(await apiError(signaturesBy().verify(wrongProof, 'session', now))).toMatchObject(away)
})

test('the second node is not queried when the first one responds', async () => {
  const second = working.requests()
  const signatures = signaturesBy(anvil.url, working.url)
  await signatures.verify(smartProof, 'session', now)
  expect(await apiError(signatures.verify(wrongProof, 'session', now))).toMatchObject({
    kind: 'unauthenticated',
  })
  expect(working.requests()).toBe(second)
})

test('a failing contract is a wrong signature for any HTTP status', async () => {
  for (const [status, code, message] of [
    [200, 3, 'execution reverted: no'],
    [200, -32000, 'execution reverted'],
    [400, -32000, 'out of gas'],
    [500, -32015, 'VM execution error.'],
  ] as const) {
    const node = await brokenNode(status, rpcError(code, message))
    const answer = await apiError(signaturesBy(node.url).verify(smartProof, 'session', now))
    await node.stop()
    expect(answer).toMatchObject({ kind: 'unauthenticated' })
  }
})
