import { solanaChain } from '@market/chains/solana/solana-chain'
import { solanaPayoutSender } from '@market/chains/solana/solana-payout-sender'
import { usdc } from '@market/kernel/money'
import { installSolanaUsdc } from '@market/testing/solana-usdc'
import { generateKeyPairSigner } from '@solana/kit'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { always, type Manner, RpcFailure, type SolanaRelay, startSolanaRelay } from './solana-relay.ts'
import { type SolanaWorld, startSolanaWorld } from './solana-support.ts'

let world: SolanaWorld
let first: SolanaRelay
let second: SolanaRelay
let reference: string

beforeAll(async () => {
  world = await startSolanaWorld()
  ;[first, second] = await Promise.all([startSolanaRelay(world.chain.url), startSolanaRelay(world.chain.url)])
  const payer = await world.wallet(5_000_000n)
  reference = await world.run(payer, [
    await world.openAccount(payer, world.treasury.address),
    await world.transfer(payer, world.treasury.address, 5_000_000n),
  ])
})
afterAll(async () => {
  await Promise.all([first.stop(), second.stop()])
  await world.stop()
})

const passing: Manner = (_call, ask) => ask()
beforeEach(() => {
  for (const relay of [first, second]) {
    relay.manner = passing
    relay.asked.length = 0
  }
})

/** For nodes of which none responds. */
const SHORT_MS = 1_000
/** For a silent node beside one that responds, also on a busy machine. */
const LONG_MS = 6_000
const settings = (timeoutMs = LONG_MS) => ({ ...world.settings, rpcUrls: [first.url, second.url], timeoutMs })
const question = () => ({
  reference,
  minAmount: usdc(1n),
  notBefore: new Date(Date.now() - 3_600_000),
  notAfter: new Date(Date.now() + 3_600_000),
})

const TROUBLES: readonly (readonly [string, Manner])[] = [
  ['answers 500', always({ kind: 'status', status: 500, body: 'oops' })],
  ['answers 429', always({ kind: 'status', status: 429, body: 'slow down' })],
  ['answers 403', always({ kind: 'status', status: 403, body: 'no' })],
  ['answers a page of HTML', always({ kind: 'status', status: 200, body: '<html>' })],
  ['answers JSON that is no answer', always({ kind: 'status', status: 200, body: '{"hello":1}' })],
  ['breaks the connection', always({ kind: 'reset' })],
  ['never answers', always({ kind: 'silence' })],
  [
    'is behind',
    async () => {
      throw new RpcFailure(-32005, 'Node is behind by 42 slots')
    },
  ],
]

describe.each(TROUBLES)('when the first node %s', (_name, manner) => {
  test('the second node is used', async () => {
    first.manner = manner
    const observation = await solanaChain(settings()).findTransfer(question())
    expect(observation).toMatchObject({ kind: 'ok', transfer: { amount: 5_000_000n } })
  })

  test('and the second too, throws `unavailable`', async () => {
    first.manner = manner
    second.manner = manner
    const chain = solanaChain(settings(SHORT_MS))
    const away = { kind: 'unavailable', message: expect.not.stringContaining('key-of-the-provider') }
    await expect(chain.findTransfer(question())).rejects.toMatchObject(away)
    await expect(chain.finalMovementsAfter(await chain.startingBlock())).rejects.toMatchObject(away)
    await expect(chain.balanceOf(world.treasury.address)).rejects.toMatchObject(away)
    await expect(chain.checkNodes()).rejects.toMatchObject(away)
  })
})

test('a failed node is avoided for a while, so that only one request waits for it', async () => {
  first.manner = always({ kind: 'silence' })
  const chain = solanaChain(settings())
  await chain.findTransfer(question())
  await chain.findTransfer(question())
  expect(first.asked).toHaveLength(1)
})

test('an unreachable node does not stop a query', async () => {
  const gone = await startSolanaRelay(world.chain.url)
  await gone.stop()
  const chain = solanaChain({ ...settings(), rpcUrls: [gone.url, second.url] })
  expect(await chain.findTransfer(question())).toMatchObject({ kind: 'ok' })
})

test('sends a payment to every node and succeeds when one accepts', async () => {
  await world.usdc.fund(world.treasury.address, 50_000_000n)
  const sender = solanaPayoutSender(settings(), world.signer)
  const payee = await generateKeyPairSigner()
  const order = { mark: 'po_nodes', to: payee.address, amount: usdc(1_000_000n), opensAccount: true }
  const signed = await sender.sign(order, 0)
  first.manner = always({ kind: 'status', status: 500, body: '' })
  await sender.send(signed)
  expect(first.asked).toContain('sendTransaction')
  second.manner = always({ kind: 'reset' })
  await expect(sender.send(signed)).rejects.toMatchObject({ kind: 'unavailable' })
})

describe('checkNodes', () => {
  test('accepts nodes on the right chain with the right mint', async () => {
    await expect(solanaChain(settings()).checkNodes()).resolves.toBeUndefined()
  })

  test('throws with the name of a backup node on another chain', async () => {
    second.manner = async (call, ask) =>
      call.method === 'getGenesisHash' ? 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG' : ask()
    await expect(solanaChain(settings()).checkNodes()).rejects.toThrow(
      /Solana node 2 \(127\.0\.0\.1\) is on another chain \(genesis EtWTR/,
    )
  })

  test('rejects a mint with other decimals, a missing mint and an account that is not a mint', async () => {
    const odd = await generateKeyPairSigner()
    await installSolanaUsdc(world.chain, world.issuer, { mint: odd.address, decimals: 9 })
    const missing = await generateKeyPairSigner()
    const check = (usdc: string) => solanaChain({ ...settings(), usdc }).checkNodes()
    await expect(check(odd.address)).rejects.toThrow(/has 9 decimals/)
    await expect(check(missing.address)).rejects.toThrow(/does not have the mint/)
    await expect(check(world.treasury.address)).rejects.toThrow(/is not a mint of the Token program/)
  })
})
