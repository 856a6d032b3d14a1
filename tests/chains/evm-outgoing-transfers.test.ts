import { evmChain } from '@market/chains/evm/evm-chain'
import { type EvmPayoutSenderSettings, evmPayoutSender } from '@market/chains/evm/evm-payout-sender'
import { transferCall } from '@market/chains/evm/sign-transfer'
import { localEvmSigner } from '@market/chains/local-signers'
import type { Chain, ObservedOutgoingTransfer } from '@market/core/ports/chain'
import type { PayoutRequest, PayoutSender, SignedTransfer } from '@market/core/ports/payout-sender'
import { usdc } from '@market/kernel/money'
import { manyCalls } from '@market/testing/contracts/many-calls'
import { BATCH_BYTECODE, FORGER_BYTECODE } from '@market/testing/contracts/payment-tricks'
import { startEvmNetwork } from '@market/testing/evm-network'
import {
  type Address,
  concat,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  parseAbi,
  stringToHex,
  toHex,
} from 'viem'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { authorizedBy, FINALITY, fundedPayer, newAccount, settingsFor } from './evm-world.ts'
import { type RpcCall, relayTo } from './node-relay.ts'

const network = await startEvmNetwork({ chainId: 8453 })
const batch = await network.deploy(BATCH_BYTECODE)
const forger = await network.deploy(FORGER_BYTECODE)
afterAll(() => network.stop())
beforeEach(async () => {
  await network.automine(true)
  await network.mine(1)
})

const BATCH = parseAbi(['function pay(address t, address[] to, uint256[] v)'])
const FORGER = parseAbi(['function forge(address from, address to, uint256 v)'])

/** A funded treasury without outgoing transfers. */
const treasuryWith = async (changes: Partial<EvmPayoutSenderSettings> = {}) => {
  const account = newAccount()
  await network.fund(account.address)
  await network.mint(account.address, 1_000_000_000n)
  const settings = settingsFor(network, account.address, changes)
  const sender = evmPayoutSender(settings, localEvmSigner(account.key))
  return { account, settings, sender, chain: evmChain(settings) }
}

let orders = 0
const newId = () => {
  orders += 1
  return `pay_${String(orders).padStart(32, '0')}`
}
const orderOf = (amount: bigint, to: string = newAccount().address): PayoutRequest => ({
  payoutId: newId(),
  to,
  amount: usdc(amount),
})
/** Signs and sends. Without automatic mining it stays in the mempool. */
const hand = async (
  sender: PayoutSender,
  order: PayoutRequest,
  nonce: bigint,
  before: SignedTransfer[] = [],
) => {
  const signed = await sender.sign(order, nonce, before)
  await sender.send(signed)
  return signed
}
const mined = ({ reference }: SignedTransfer) =>
  until('it is in a block', async () => {
    const receipt = await network.rpc('eth_getTransactionReceipt', [reference])
    return receipt !== null
  })
const payOut = async (sender: PayoutSender, order: PayoutRequest, nonce: bigint): Promise<SignedTransfer> => {
  const signed = await hand(sender, order, nonce)
  await mined(signed)
  return signed
}

/** Reads page by page until the position stays the same. */
const readOn = async (chain: Chain, from?: string, limit: () => number = () => 10) => {
  const outgoingTransfers: ObservedOutgoingTransfer[] = []
  let position = from
  for (;;) {
    const size = limit()
    const page = await chain.outgoingTransfersAfter(position, size)
    expect(page.outgoingTransfers.length).toBeLessThanOrEqual(size)
    outgoingTransfers.push(...page.outgoingTransfers)
    if (page.position === position) return { outgoingTransfers, position }
    position = page.position
  }
}
const references = (outgoingTransfers: readonly ObservedOutgoingTransfer[]) =>
  outgoingTransfers.map(({ reference }) => reference)
const heightNow = async () => BigInt(String(await network.rpc('eth_blockNumber')))

const approve = (from: Awaited<ReturnType<typeof treasuryWith>>['account'], spender: Address) =>
  network.call(
    from,
    network.usdc,
    encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, 10n ** 9n] }),
  )
const transferFrom = (from: Address, to: Address, amount: bigint): Hex =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args: [from, to, amount] })
const transferTo = (to: Address, amount: bigint): Hex =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] })

test('returns every payout exactly once, in order and with its id, for any page size and restart', async () => {
  const { settings, sender } = await treasuryWith()
  await network.automine(false)
  const same = newAccount().address
  const paid: { readonly payoutId: string; readonly nonce: bigint; readonly reference: string }[] = []
  const afterHalf: string[] = []
  for (let nonce = 0n; nonce < 12n; nonce++) {
    // Half of them differ only in their ids.
    const order = nonce % 2n === 0n ? orderOf(5n, same) : orderOf(10n + nonce)
    const { reference } = await hand(sender, order, nonce)
    paid.push({ payoutId: order.payoutId, nonce, reference })
    if (nonce % 3n === 2n) await network.mine(1)
    if (nonce === 5n) afterHalf.push((await readOn(evmChain(settings))).position ?? '')
  }
  for (const limits of [[1], [2, 5], [3], [100]]) {
    let turn = 0
    const limit = () => limits[turn++ % limits.length] ?? 1
    const whole = await readOn(evmChain(settings), undefined, limit)
    expect(whole.outgoingTransfers).toMatchObject(paid)
    const rest = await readOn(evmChain(settings), afterHalf[0], limit)
    expect(rest.outgoingTransfers).toMatchObject(paid.slice(6))
    expect(rest.position).toBe(whole.position)
  }
  expect(await network.balanceOf(same)).toBe(30n)
})

test('returns a payout in its first block with payee, amount, nonce and time, and later as final', async () => {
  const { sender, chain } = await treasuryWith()
  const order = orderOf(7_000_000n)
  const { reference } = await payOut(sender, order, 0n)
  const height = await heightNow()
  const block = (await network.rpc('eth_getBlockByNumber', [toHex(height), false])) as Record<string, Hex>
  const told: ObservedOutgoingTransfer = {
    reference,
    payoutId: order.payoutId,
    payee: order.to.toLowerCase(),
    amount: usdc(7_000_000n),
    nonce: 0n,
    at: new Date(Number(block['timestamp']) * 1_000),
    block: { height, hash: String(block['hash']) },
    final: false,
  }
  const { outgoingTransfers, position } = await readOn(chain)
  expect(outgoingTransfers).toEqual([told])
  await network.mine(FINALITY)
  expect((await readOn(chain)).outgoingTransfers).toEqual([{ ...told, final: true }])
  expect((await readOn(chain, position)).outgoingTransfers).toEqual([])
})

test('returns only the executed transaction of several at one nonce', async () => {
  const { sender, chain } = await treasuryWith()
  const order = orderOf(9n)
  await network.automine(false)
  const stuck = await hand(sender, order, 0n)
  const replacement = await hand(sender, order, 0n, [stuck])
  await network.mine(1)
  expect((await readOn(chain)).outgoingTransfers).toMatchObject([
    { reference: replacement.reference, payoutId: order.payoutId, nonce: 0n, amount: 9n },
  ])
})

test('returns transfers that are not payouts without a payout id, for any appended data', async () => {
  const vault = newAccount()
  const { account, chain, sender } = await treasuryWith({ ownAddresses: [vault.address] })
  const spender = await fundedPayer(network)
  const [one, other] = [newAccount().address, newAccount().address]
  await approve(account, spender.address)
  await approve(account, batch)
  await approve(account, account.address)
  const order = orderOf(8n)
  const id = stringToHex(order.payoutId)

  const drawn = concat([transferFrom(account.address, one, 1n), id])
  await network.call(spender, network.usdc, drawn)
  await network.call(account, network.usdc, drawn)
  await network.transfer(account, vault.address, 2n)
  for (const tail of [`${order.payoutId}0`, order.payoutId.slice(1), order.payoutId.toUpperCase(), 'pay_1'])
    await network.call(account, network.usdc, concat([transferTo(one, 3n), stringToHex(tail)]))
  const pay = (to: readonly Address[], amounts: readonly bigint[]) =>
    network.call(
      account,
      batch,
      concat([
        encodeFunctionData({ abi: BATCH, functionName: 'pay', args: [network.usdc, to, amounts] }),
        id,
      ]),
    )
  await pay([one, other, account.address], [4n, 5n, 100n])
  await pay([one, one], [6n, 7n])
  const authorized = await authorizedBy(network, account, other, 9n)
  await network.callMany(network.usdc, [concat([authorized, id])])
  // A contract that transfers its allowance for any call data, including that of a payout.
  const taker = newAccount().address
  await network.rpc('anvil_setCode', [
    taker,
    manyCalls(network.usdc, [transferFrom(account.address, other, 10n)]),
  ])
  await approve(account, taker)
  await network.call(account, taker, transferCall(order))
  const { reference } = await payOut(sender, order, (await sender.nonces())?.next ?? 0n)

  // The nonces 0 to 2 and 11 approved.
  const { outgoingTransfers } = await readOn(chain)
  const facts = outgoingTransfers.map(({ payoutId, payee, amount, nonce }) => ({
    payoutId,
    payee,
    amount,
    nonce,
  }))
  const told = (payee: string | null, amount: bigint, nonce: bigint | null) => ({
    payoutId: null,
    payee: payee?.toLowerCase() ?? null,
    amount,
    nonce,
  })
  expect(facts).toEqual([
    told(one, 1n, null),
    told(one, 1n, 3n),
    told(vault.address, 2n, 4n),
    ...[5n, 6n, 7n, 8n].map((nonce) => told(one, 3n, nonce)),
    told(null, 9n, 9n),
    told(one, 13n, 10n),
    told(other, 9n, null),
    told(other, 10n, 12n),
    { ...told(order.to, 8n, 13n), payoutId: order.payoutId },
  ])
  expect(outgoingTransfers.at(-1)?.reference).toBe(reference)
})

test('does not return reverted, incoming, self, zero and non-USDC transfers', async () => {
  const { account, chain, sender } = await treasuryWith()
  const otherUser = await fundedPayer(network)
  const denied = orderOf(4n)
  const signed = await sender.sign(denied, 0n, [])
  await network.deny(denied.to as Address, true)
  await sender.send(signed)
  await mined(signed)
  expect(await sender.observe([signed])).toMatchObject({ kind: 'seen' })
  await network.transfer(otherUser, account.address, 5n)
  await network.transfer(account, account.address, 6n)
  await network.call(otherUser, network.usdc, transferFrom(account.address, otherUser.address, 0n))
  const args = [account.address, otherUser.address, 7n] as const
  await network.call(otherUser, forger, encodeFunctionData({ abi: FORGER, functionName: 'forge', args }))
  const { reference } = await payOut(sender, orderOf(8n), 2n)
  expect(references((await readOn(chain)).outgoingTransfers)).toEqual([reference])
})

/** Removes the newest blocks, so that the next block replaces the lowest of them. */
const takeBack = async (blocks: number) => {
  await network.reorg(blocks)
  if (blocks > 1) await network.rpc('anvil_rollback', [blocks])
}

/** A payout that was read and removed by a reorganization, and another one below the reached position. */
const takenBack = async () => {
  const world = await treasuryWith()
  const kept = await payOut(world.sender, orderOf(1n), 0n)
  await network.mine(FINALITY)
  const dropped = await payOut(world.sender, orderOf(2n), 1n)
  await network.mine(3)
  const read = await readOn(world.chain)
  expect(references(read.outgoingTransfers)).toEqual([kept.reference, dropped.reference])
  await takeBack(4)
  const moved = await payOut(world.sender, orderOf(3n), 1n)
  expect(moved.reference).not.toBe(dropped.reference)
  return { ...world, position: read.position ?? '', moved: moved.reference }
}

test('returns the new payout after a reorganization replaced one', async () => {
  const { chain, position, moved } = await takenBack()
  await network.mine(5)
  const next = await readOn(chain, position)
  expect(next.outgoingTransfers).toMatchObject([{ reference: moved, nonce: 1n, amount: 3n, final: false }])
  expect((await readOn(chain, next.position)).outgoingTransfers).toEqual([])
})

test('also when everything is final at the next poll', async () => {
  const { chain, position, moved } = await takenBack()
  await network.mine(5 * FINALITY)
  const next = await readOn(chain, position)
  expect(next.outgoingTransfers).toMatchObject([{ reference: moved, final: true }])
})

test('also when the reorganization happens between two requests of one poll', async () => {
  const { settings, position, moved } = await takenBack()
  await network.mine(5)
  const [height = '', hash = ''] = position.split(/[:~]/)
  const relay = await relayTo(network.url)
  try {
    // The first request for the last read block was sent just before the reorganization.
    let asked = 0
    relay.mood = {
      kind: 'change',
      result: ({ method, params }, result) => {
        if (method !== 'eth_getBlockByNumber' || params[0] !== toHex(BigInt(height))) return result
        asked += 1
        return asked === 1 ? { ...(result as object), hash } : result
      },
    }
    const chain = evmChain({ ...settings, rpcUrls: [relay.url] })
    const page = await chain.outgoingTransfersAfter(position, 10)
    expect(references(page.outgoingTransfers)).toEqual([moved])
    expect(asked).toBeGreaterThan(2)
  } finally {
    await relay.stop()
  }
})

test.each([(text: string) => text.replace(/~\d+$/, ''), (text: string) => `${text}~1`])(
  'rejects a position of another form: %s',
  async (changed) => {
    const { sender, chain } = await treasuryWith()
    await payOut(sender, orderOf(1n), 0n)
    const { position = '' } = await readOn(chain)
    await expect(chain.outgoingTransfersAfter(changed(position), 10)).rejects.toThrow('is not a log position')
  },
)

/** The responses of a node at this height. */
const stuckAt =
  (height: bigint) =>
  ({ method, params }: RpcCall, result: unknown): unknown => {
    if (method === 'eth_blockNumber') return toHex(height)
    const [first] = params
    if (method === 'eth_getBlockByNumber' && typeof first === 'string' && first.startsWith('0x'))
      return BigInt(first) > height ? null : result
    if (method === 'eth_getLogs')
      return (result as readonly { blockNumber: Hex }[]).filter((log) => BigInt(log.blockNumber) <= height)
    return result
  }

test('a lagging node does not move the position back or hide transfers of another node', async () => {
  const { settings, sender } = await treasuryWith()
  const early = await payOut(sender, orderOf(1n), 0n)
  const height = await heightNow()
  const late = await payOut(sender, orderOf(2n), 1n)
  const relay = await relayTo(network.url)
  relay.mood = { kind: 'change', result: stuckAt(height) }
  try {
    const alone = evmChain({ ...settings, rpcUrls: [relay.url] })
    expect(references((await readOn(alone)).outgoingTransfers)).toEqual([early.reference])
    const both = evmChain({ ...settings, rpcUrls: [relay.url, network.url] })
    const whole = await readOn(both)
    expect(references(whole.outgoingTransfers)).toEqual([early.reference, late.reference])
    const position = whole.position ?? ''
    expect(await alone.outgoingTransfersAfter(position, 10)).toEqual({ outgoingTransfers: [], position })
    expect(await both.outgoingTransfersAfter(position, 10)).toEqual({ outgoingTransfers: [], position })
  } finally {
    await relay.stop()
  }
})

test('throws when a node lists a transfer but does not have its transaction', async () => {
  const { settings, sender } = await treasuryWith()
  const { reference } = await payOut(sender, orderOf(1n), 0n)
  const relay = await relayTo(network.url)
  relay.mood = {
    kind: 'change',
    result: ({ method }, result) => (method === 'eth_getTransactionByHash' ? null : result),
  }
  try {
    const alone = evmChain({ ...settings, rpcUrls: [relay.url] })
    await expect(alone.outgoingTransfersAfter(undefined, 10)).rejects.toMatchObject({ kind: 'unavailable' })
    const both = evmChain({ ...settings, rpcUrls: [relay.url, network.url] })
    expect(references((await both.outgoingTransfersAfter(undefined, 10)).outgoingTransfers)).toEqual([
      reference,
    ])
  } finally {
    await relay.stop()
  }
})

test('reads a page of many transfers in batches that nodes accept', async () => {
  const { account, chain } = await treasuryWith()
  await network.automine(false)
  const sent: Hex[] = []
  for (let index = 0; index < 60; index++)
    sent.push(await network.transfer(account, newAccount().address, 1n))
  await network.mine(1)
  const { outgoingTransfers } = await chain.outgoingTransfersAfter(undefined, 100)
  expect(references(outgoingTransfers)).toEqual(sent)
  expect(outgoingTransfers.map(({ nonce }) => nonce)).toEqual(sent.map((_, index) => BigInt(index)))
})

test('heights: final and horizon are the height of the finality block', async () => {
  const { chain } = await treasuryWith()
  await network.mine(FINALITY)
  const final = (await heightNow()) - BigInt(FINALITY) + 1n
  expect(await chain.heights()).toEqual({ final, horizon: final })
})

test('heights: -1 when no block is final', async () => {
  const { settings } = await treasuryWith()
  const relay = await relayTo(network.url)
  relay.mood = {
    kind: 'error',
    code: -39_001,
    message: 'Unknown block',
    when: ({ method, params }) => method === 'eth_getBlockByNumber' && params[0] === 'finalized',
  }
  try {
    const young = evmChain({ ...settings, rpcUrls: [relay.url] })
    expect(await young.heights()).toEqual({ final: -1n, horizon: -1n })
  } finally {
    await relay.stop()
  }
})
