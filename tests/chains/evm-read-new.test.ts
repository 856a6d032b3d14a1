import { evmChain } from '@market/chains/evm/evm-chain'
import { batchCall, MULTICALL3 } from '@market/chains/evm/payout-batch'
import type { IncomingTransfer, ObservedOutgoingTransfer } from '@market/core/ports/chain'
import { usdc } from '@market/kernel/money'
import { BATCH_BYTECODE, FORGER_BYTECODE } from '@market/testing/contracts/payment-tricks'
import { startEvmNetwork } from '@market/testing/evm-network'
import fc from 'fast-check'
import { type Address, concat, encodeFunctionData, erc20Abi, type Hex, parseAbi, toHex } from 'viem'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  blockOf,
  callsSince,
  isLargerRange,
  mined,
  newestAfter,
  newPayout,
  payOut,
  placeOf,
  readFinalBlocks,
  readNewest,
  readWhole,
  references,
  removeNewest,
  stuckAt,
  submit,
  submitSigned,
  treasuryWith,
} from './evm-movements.ts'
import { authorizedBy, FINALITY, fundedPayer, newAccount, question, settingsFor } from './evm-world.ts'
import { type NodeRelay, relayTo } from './node-relay.ts'

const network = await startEvmNetwork({ chainId: 8453 })
const batch = await network.deploy(BATCH_BYTECODE)
const forger = await network.deploy(FORGER_BYTECODE)
const payers = [await fundedPayer(network), await fundedPayer(network), await fundedPayer(network)] as const
afterAll(() => network.stop())
beforeEach(async () => {
  await network.automine(true)
  await network.mine(1)
})

const relays: NodeRelay[] = []
const relayed = async (): Promise<NodeRelay> => {
  const relay = await relayTo(network.url)
  relays.push(relay)
  return relay
}
afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.stop()))
})

const BATCH = parseAbi(['function pay(address t, address[] to, uint256[] v)'])
const FORGER = parseAbi(['function forge(address from, address to, uint256 v)'])

/** A treasury without USDC, so that everything it receives is counted. */
const emptyTreasury = (changes: Parameters<typeof settingsFor>[2] = {}) => {
  const treasury = newAccount()
  return { treasury, chain: evmChain(settingsFor(network, treasury.address, changes)) }
}
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

test('for any transfers, page sizes, restarts and reorganizations, each is reported where it is, and final once', async () => {
  const action = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('block' as const),
        transfers: fc.array(
          fc.record({
            by: fc.nat({ max: 3 }),
            to: fc.nat({ max: 1 }),
            amount: fc.bigInt({ min: 0n, max: 9n }),
          }),
          { maxLength: 4 },
        ),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('newest' as const), limit: fc.integer({ min: 1, max: 4 }) }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('final' as const) }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('mine' as const), blocks: fc.integer({ min: 1, max: 12 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('reorg' as const), depth: fc.integer({ min: 1, max: 5 }) }),
    },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 4, maxLength: 24 }), async (actions) => {
      const { account, settings } = await treasuryWith(network)
      // A reorganization keeps the treasury's own coins.
      await network.mine(FINALITY)
      const start = await blockOf(network, 'finalized')
      const open = () => evmChain({ ...settings, watchBlocks: 7 })
      let final: { height: bigint; hash: string } = { height: start.height, hash: start.hash }
      let position: string | null = null
      let hasReorganized = false
      const sent = new Map<string, bigint>()
      const seen = new Map<string, string>()
      const reports: string[] = []
      const decided: (IncomingTransfer | ObservedOutgoingTransfer)[] = []
      const keyOf = (transfer: IncomingTransfer | ObservedOutgoingTransfer) =>
        'payee' in transfer ? `${transfer.reference} out` : `${transfer.reference} in ${transfer.index}`
      const readNew = async (limit: number) => {
        const read = await readNewest(open(), { final, position }, () => limit)
        position = read.position
        for (const transfer of [...read.incoming, ...read.outgoing]) {
          seen.set(keyOf(transfer), transfer.block.hash)
          reports.push(keyOf(transfer))
        }
      }
      const readFinal = async () => {
        const { incoming, outgoing, to } = await readFinalBlocks(open(), final)
        final = to
        expect(incoming.every((transfer) => transfer.final)).toBe(true)
        decided.push(...incoming, ...outgoing)
      }
      await network.automine(false)
      for (const one of actions) {
        if (one.kind === 'block') {
          for (const { by, to, amount } of one.transfers) {
            const from = payers[by] ?? account
            const target = to === 0 ? account.address : payers[0].address
            const hash = await network.transfer(from, target, amount)
            const concerns = from.address !== target && [from.address, target].includes(account.address)
            if (amount > 0n && concerns) sent.set(`${hash} ${from === account ? 'out' : 'in 0'}`, amount)
          }
          await network.mine(1)
        } else if (one.kind === 'newest') await readNew(one.limit)
        else if (one.kind === 'final') await readFinal()
        else if (one.kind === 'mine') await network.mine(one.blocks)
        else {
          hasReorganized = true
          await network.reorg(one.depth)
        }
      }
      await readNew(3)
      const places = new Map<string, string>()
      for (const key of sent.keys()) {
        const place = await placeOf(network, key.split(' ')[0] ?? '')
        if (place !== undefined) places.set(key, place)
      }
      for (const [key, place] of places)
        if (!decided.some((transfer) => keyOf(transfer) === key)) expect(seen.get(key), key).toBe(place)
      if (!hasReorganized) expect(new Set(reports).size).toBe(reports.length)

      await network.mine(FINALITY)
      await readFinal()
      expect(decided.map(keyOf).toSorted()).toEqual([...places.keys()].toSorted())
      for (const transfer of decided) {
        expect(transfer.block.hash).toBe(places.get(keyOf(transfer)))
        expect(transfer.amount).toBe(sent.get(keyOf(transfer)))
      }
    }),
    { numRuns: 15 },
  )
})

test('the parts of one page each report their transfers in order, whatever the limit', async () => {
  const { sender, settings, account } = await treasuryWith(network)
  await network.automine(false)
  const sent: string[] = []
  for (let nonce = 0n; nonce < 12n; nonce++) {
    sent.push((await submit(sender, newPayout(5n + nonce), nonce)).reference)
    if (nonce % 3n === 2n) await network.mine(1)
    await network.transfer(payers[0], account.address, nonce + 1n)
  }
  await network.mine(1)
  const whole = await readWhole(evmChain(settings))
  expect(references(whole.outgoing)).toEqual(sent)
  for (const limits of [[1], [2, 5], [3], [100]]) {
    let turn = 0
    const read = await readWhole(evmChain(settings), () => limits[turn++ % limits.length] ?? 1)
    expect(read).toEqual(whole)
    const heights = read.incoming.map(({ block }) => block.height)
    expect(heights).toEqual(heights.toSorted((a, b) => Number(a - b)))
  }
})

test('an incoming transfer is as findTransfer shows it', async () => {
  const { treasury, chain } = emptyTreasury({ confirmations: [{ from: usdc(0n), blocks: 1 }] })
  const reference = await network.transfer(payers[0], treasury.address, 7n)
  const { incoming } = await readWhole(chain)
  const observation = await chain.findTransfer(question(reference, { notBefore: new Date(0) }))
  expect(observation).toEqual({ kind: 'ok', transfer: incoming[0] })
  expect(incoming).toMatchObject([{ payer: payers[0].address.toLowerCase(), amount: 7n, final: false }])
  // One node makes nothing final, however old it is.
  await network.mine(FINALITY)
  expect((await readWhole(chain)).incoming).toEqual(incoming)
})

/** A treasury, and the block after which it is read. */
const withStart = async () => {
  const world = await treasuryWith(network)
  const { height, hash } = await blockOf(network, 'latest')
  return { ...world, start: { height, hash } }
}

test('a payout is reported in its first block, with its mark', async () => {
  const { sender, chain } = await treasuryWith(network)
  const payout = newPayout(7_000_000n)
  const { reference } = await payOut(network, sender, payout, 0n)
  const { at, ...block } = await blockOf(network, 'latest')
  const { outgoing } = await readWhole(chain)
  const { mark } = payout
  expect(outgoing).toEqual([
    { reference, index: 0, mark, payee: payout.to.toLowerCase(), amount: 7_000_000n, at, block },
  ])
})

test('of several transactions at one nonce only the executed one is reported', async () => {
  const { sender, chain } = await treasuryWith(network)
  const payout = newPayout(9n)
  await network.automine(false)
  const stuck = await submit(sender, payout, 0n)
  const replacement = await submit(sender, payout, 0n, stuck)
  await network.mine(1)
  const { outgoing } = await readWhole(chain)
  expect(outgoing).toMatchObject([{ reference: replacement.reference, mark: payout.mark }])
})

test('a transfer without an authorization has no mark, and a used authorization of another payee is no payout', async () => {
  const vault = newAccount()
  const { account, chain, sender } = await treasuryWith(network, { ownAddresses: [vault.address] })
  const spender = await fundedPayer(network)
  const [one, other] = [newAccount().address, newAccount().address]
  await approve(account, spender.address)
  await approve(account, batch)
  const payout = newPayout(8n)
  const signed = await sender.sign(payout, 0)

  // Whatever is appended to a call, the token ignores it.
  const tail = payout.mark as Hex
  await network.call(spender, network.usdc, concat([transferFrom(account.address, one, 1n), tail]))
  await network.transfer(account, vault.address, 2n)
  await network.call(account, network.usdc, concat([transferTo(one, 3n), signed.bytes as Hex]))
  const pay = (to: readonly Address[], amounts: readonly bigint[]) =>
    network.call(
      account,
      batch,
      encodeFunctionData({ abi: BATCH, functionName: 'pay', args: [network.usdc, to, amounts] }),
    )
  await pay([one, account.address, other], [4n, 100n, 5n])
  const authorized = await authorizedBy(network, account, other, 9n)
  await network.callMany(network.usdc, [authorized])
  const { reference } = await submitSigned(sender, [signed], 0n)
  await network.included(reference as Hex)

  const { outgoing } = await readWhole(chain)
  const nonce = `0x${authorized.slice(2 + 2 * (4 + 5 * 32)).slice(0, 64)}`
  expect(outgoing.map(({ index, mark, payee, amount }) => [index, mark, payee, amount])).toEqual(
    (
      [
        [0, null, one, 1n],
        [0, null, vault.address, 2n],
        [0, null, one, 3n],
        [0, null, one, 4n],
        [1, null, other, 5n],
        [0, nonce, other, 9n],
        [0, payout.mark, payout.to, 8n],
      ] as const
    ).map(([index, mark, payee, amount]) => [index, mark, payee.toLowerCase(), amount]),
  )
  expect(outgoing.at(-1)?.reference).toBe(reference)
})

test('a transaction of another account with payouts and another transfer: each payout has its mark, the transfer has none', async () => {
  const { account, chain, sender, start } = await withStart()
  const stranger = await fundedPayer(network)
  await approve(account, MULTICALL3)
  const payouts = [newPayout(5n), newPayout(6n)]
  const [first, second] = await Promise.all(payouts.map((payout) => sender.sign(payout, 0)))
  if (first === undefined || second === undefined) throw new Error('two are signed')
  const taken = transferFrom(account.address, stranger.address, 7n)
  const data = batchCall(network.usdc, [first, { bytes: taken }, second])
  const reference = await network.call(stranger, MULTICALL3, data, 1_000_000n)
  const { outgoing } = await readNewest(chain, { final: start })
  expect(outgoing).toMatchObject([
    { reference, index: 0, mark: payouts[0]?.mark, amount: 5n },
    { reference, index: 1, mark: null, payee: stranger.address.toLowerCase(), amount: 7n },
    { reference, index: 2, mark: payouts[1]?.mark, amount: 6n },
  ])
  await network.mine(FINALITY)
  const { agreed } = await chain.finalMovementsAfter(start)
  expect(agreed?.outgoing).toEqual(outgoing)
  expect(agreed?.change).toBe(-18n)
})

test('two payouts of one batch to one payee have their own index and mark', async () => {
  const { chain, sender } = await withStart()
  const payee = newAccount().address
  const payouts = [newPayout(5n, payee), newPayout(5n, payee)]
  const signed = await Promise.all(payouts.map((payout) => sender.sign(payout, 0)))
  const { reference } = await submitSigned(sender, signed, 0n)
  await network.included(reference as Hex)
  const { outgoing } = await readWhole(chain)
  expect(outgoing.map(({ index, mark, amount }) => [index, mark, amount])).toEqual(
    payouts.map(({ mark }, index) => [index, mark, 5n]),
  )
})

test('an authorization without a transfer, and reverted, self, zero and non-USDC transfers are not reported', async () => {
  const { account, chain, sender, start } = await withStart()
  const otherUser = await fundedPayer(network)
  const denied = newPayout(4n)
  await network.deny(denied.to as Address, true)
  await mined(network, await submit(sender, denied, 0n))
  await network.callMany(network.usdc, [
    await authorizedBy(network, account, otherUser.address, 0n),
    await authorizedBy(network, account, account.address, 6n),
  ])
  await network.transfer(account, account.address, 6n)
  await network.call(otherUser, network.usdc, transferFrom(account.address, otherUser.address, 0n))
  await network.transfer(otherUser, account.address, 0n)
  const forge = (from: Address, to: Address) =>
    encodeFunctionData({ abi: FORGER, functionName: 'forge', args: [from, to, 7n] })
  await network.call(otherUser, forger, forge(account.address, otherUser.address))
  await network.call(otherUser, forger, forge(otherUser.address, account.address))
  const paid = await network.transfer(otherUser, account.address, 5n)
  const { reference } = await payOut(network, sender, newPayout(8n), 1n)
  const { incoming, outgoing } = await readNewest(chain, { final: start })
  expect(references(outgoing)).toEqual([reference])
  expect(references(incoming)).toEqual([paid])
  await network.mine(FINALITY)
  expect((await readFinalBlocks(chain, start)).outgoing).toEqual(outgoing)
  expect((await chain.finalMovementsAfter(start)).agreed?.change).toBe(5n - 8n)
})

test('each transfer of a transaction has its own index, whatever the size of a page', async () => {
  const { treasury, chain } = emptyTreasury()
  const [one, other] = payers
  const authorized = (from: typeof one, amount: bigint) =>
    authorizedBy(network, from, treasury.address, amount)
  await network.callMany(network.usdc, [await authorized(one, 1n), await authorized(one, 2n)])
  await network.callMany(network.usdc, [
    await authorized(one, 3n),
    await authorizedBy(network, treasury, other.address, 2n),
    await authorized(other, 4n),
  ])
  await network.mint(treasury.address, 5n)
  const { incoming, outgoing } = await readWhole(chain, () => 1)
  const [first, second] = [one.address.toLowerCase(), other.address.toLowerCase()]
  expect(incoming).toMatchObject([
    { index: 0, amount: 1n, payer: first },
    { index: 1, amount: 2n, payer: first },
    { index: 0, amount: 3n, payer: first },
    { index: 1, amount: 4n, payer: second },
    { index: 0, amount: 5n, payer: null },
  ])
  expect(outgoing).toMatchObject([{ reference: incoming[2]?.reference, payee: second, amount: 2n }])
})

test('transfers from own addresses are not reported', async () => {
  const vault = await fundedPayer(network)
  const { treasury, chain } = emptyTreasury({ ownAddresses: [vault.address] })
  await network.transfer(vault, treasury.address, 5n)
  const counted = await network.transfer(payers[0], treasury.address, 6n)
  expect(references((await readWhole(chain, () => 1)).incoming)).toEqual([counted])
})

test('a page of many blocks without times in their logs is read in batches that nodes accept', async () => {
  const relay = await relayed()
  const { treasury, chain } = emptyTreasury({ rpcUrls: [relay.url] })
  const start = await blockOf(network, 'latest')
  const BLOCKS = 60
  for (let block = 0; block < BLOCKS; block++) await network.transfer(payers[0], treasury.address, 1n)
  const { incoming } = await readNewest(chain, { final: start }, () => 100)
  expect(incoming).toHaveLength(BLOCKS)
  relay.mood = {
    kind: 'change',
    result: ({ method }, result) =>
      method === 'eth_getLogs'
        ? (result as object[]).map((log) => ({ ...log, blockTimestamp: undefined }))
        : result,
  }
  const before = relay.requests()
  expect((await readNewest(chain, { final: start }, () => 100)).incoming).toEqual(incoming)
  // The newest height, the range, and 50 and 10 blocks.
  expect(relay.requests() - before).toBe(4)
  expect(relay.methods().filter((method) => method === 'eth_getBlockByHash')).toHaveLength(BLOCKS)
})

describe('a reorganization', () => {
  /** A payout and a payment that were read and then removed, and another payout below the reached position. */
  const replaced = async () => {
    const world = await treasuryWith(network)
    await network.mine(FINALITY)
    const final = await blockOf(network, 'latest')
    const kept = await payOut(network, world.sender, newPayout(1n), 0n)
    await network.mine(FINALITY)
    const dropped = await payOut(network, world.sender, newPayout(2n), 1n)
    const payment = await network.transfer(payers[1], world.account.address, 4n)
    await network.mine(2)
    const read = await readNewest(world.chain, { final })
    expect(references(read.outgoing)).toEqual([kept.reference, dropped.reference])
    expect(references(read.incoming)).toEqual([payment])
    await removeNewest(network, 4)
    const moved = await payOut(network, world.sender, newPayout(3n), 1n)
    expect(moved.reference).not.toBe(dropped.reference)
    return { ...world, final, position: read.position ?? '', kept: kept.reference, moved: moved.reference }
  }

  test('sends the reading back to the final block, so that the new place of each transfer is reported', async () => {
    const { chain, final, position, kept, moved } = await replaced()
    await network.mine(5)
    expect(await newestAfter(chain, final, position, 1)).toMatchObject({ isReplaced: true, isEnd: false })
    const next = await readNewest(chain, { final, position })
    expect(references(next.outgoing)).toEqual([kept, moved])
    expect(next.incoming).toEqual([])
    expect(await newestAfter(chain, final, next.position, 1)).toMatchObject({ isReplaced: false })
    for (const { reference, block } of next.outgoing)
      expect(block.hash).toBe(await placeOf(network, reference))
    const end = await readNewest(chain, { final, position: next.position })
    expect(end).toEqual({ incoming: [], outgoing: [], position: next.position })
  })

  test('of the read block that is final at the next reading sends it back too', async () => {
    const { chain, position, moved } = await replaced()
    await network.mine(5 * FINALITY)
    const height = BigInt(position.split(':')[0] ?? '')
    const { hash } = await blockOf(network, height)
    expect(position).not.toContain(hash)
    // The reached block itself was replaced, and the final block is the one in its place.
    const at = await readNewest(chain, { final: { height, hash }, position })
    expect(at.outgoing).toEqual([])
    expect((await readNewest(chain, { final: { height, hash }, position: at.position })).position).toBe(
      at.position,
    )
    const before = await blockOf(network, height - 4n)
    const next = await readNewest(chain, { final: before, position })
    expect(references(next.outgoing)).toEqual([moved])
  })

  test('between two responses of one reading is noticed at the next one', async () => {
    const { settings, final, position, kept, moved } = await replaced()
    await network.mine(5)
    const [height = '', hash = ''] = position.split(':')
    const relay = await relayed()
    // The last block and the logs were read just before the reorganization, and the block before them is the same.
    relay.mood = {
      kind: 'change',
      result: ({ method, params }, result) => {
        if (method === 'eth_blockNumber') return toHex(BigInt(height))
        if (method === 'eth_getLogs') return []
        const isLast = method === 'eth_getBlockByNumber' && params[0] === toHex(BigInt(height))
        return isLast ? { ...(result as object), hash } : result
      },
    }
    const chain = evmChain({ ...settings, rpcUrls: [relay.url] })
    const first = await readNewest(chain, { final })
    expect(first).toEqual({ incoming: [], outgoing: [], position })
    relay.mood = { kind: 'pass' }
    const next = await readNewest(chain, { final, position: first.position })
    expect(references(next.outgoing)).toEqual([kept, moved])
  })

  test('that moves a payment reports it in its new block', async () => {
    const { account, chain } = await treasuryWith(network)
    await network.mine(FINALITY)
    const final = await blockOf(network, 'latest')
    const payer = await fundedPayer(network)
    await network.mine(FINALITY)
    const data = transferTo(account.address, 6n)
    const fees = { maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n, gas: 100_000n }
    const bytes = await payer.signTransaction({
      type: 'eip1559',
      ...{ chainId: 8453, nonce: 0, to: network.usdc, data, ...fees },
    })
    const include = async () =>
      network.included((await network.rpc('eth_sendRawTransaction', [bytes])) as Hex)
    await include()
    const first = await readNewest(chain, { final })
    await network.reorg(1)
    const gone = await readNewest(chain, { final, position: first.position })
    await include()
    const again = await readNewest(chain, { final, position: gone.position })
    const ofPayer = ({ incoming }: typeof first) => incoming.filter(({ amount }) => amount === 6n)
    expect(ofPayer(gone)).toEqual([])
    expect(references(ofPayer(again))).toEqual(references(ofPayer(first)))
    expect(ofPayer(again)[0]?.block).not.toEqual(ofPayer(first)[0]?.block)
    expect(ofPayer(again)[0]?.block.hash).toBe(await placeOf(network, ofPayer(first)[0]?.reference ?? ''))
  })
})

test('a node that is behind has no page, and another node is asked', async () => {
  const { settings, sender } = await treasuryWith(network)
  const start = await blockOf(network, 'latest')
  const early = await payOut(network, sender, newPayout(1n), 0n)
  const { height } = await blockOf(network, 'latest')
  const late = await payOut(network, sender, newPayout(2n), 1n)
  const relay = await relayed()
  relay.mood = { kind: 'change', result: stuckAt(height) }
  const alone = evmChain({ ...settings, rpcUrls: [relay.url] })
  const before = await readNewest(alone, { final: start })
  expect(references(before.outgoing)).toEqual([early.reference])
  const both = evmChain({ ...settings, rpcUrls: [relay.url, network.url] })
  const whole = await readNewest(both, { final: start, position: before.position })
  expect(references(whole.outgoing)).toEqual([late.reference])
  expect(await newestAfter(alone, start, whole.position, 10)).toBeUndefined()
  expect(await newestAfter(both, start, whole.position, 10)).toMatchObject({
    ...{ incoming: [], outgoing: [], isEnd: true, isReplaced: false },
    position: whole.position,
  })
})

test('a node without the final block is not used', async () => {
  const { treasury, chain } = emptyTreasury()
  await network.transfer(payers[0], treasury.address, 1n)
  const final = await blockOf(network, 'latest')
  const paid = await network.transfer(payers[0], treasury.address, 2n)
  const foreign = await startEvmNetwork({ chainId: 8453 })
  try {
    await foreign.mine(Number(final.height) + 2)
    const settings = settingsFor(network, treasury.address, { maxLagBlocks: 1_000 })
    const elsewhere = evmChain({ ...settings, rpcUrls: [foreign.url] })
    await expect(newestAfter(elsewhere, final, null, 10)).rejects.toMatchObject({ kind: 'unavailable' })
    const both = evmChain({ ...settings, rpcUrls: [foreign.url, network.url] })
    expect(references((await readNewest(both, { final })).incoming)).toEqual([paid])
    expect(references((await readNewest(chain, { final })).incoming)).toEqual([paid])
  } finally {
    await foreign.stop()
  }
})

test('a final block that is later than the position replaces it', async () => {
  const { treasury, chain } = emptyTreasury()
  const start = await blockOf(network, 'latest')
  await network.transfer(payers[0], treasury.address, 1n)
  const { position } = await readNewest(chain, { final: start })
  await network.transfer(payers[0], treasury.address, 2n)
  const final = await blockOf(network, 'latest')
  const late = await network.transfer(payers[0], treasury.address, 3n)
  expect(references((await readNewest(chain, { final, position })).incoming)).toEqual([late])
})

test('long ranges are read in bounded requests, and in smaller ones when the node requires it', async () => {
  const relay = await relayed()
  const { treasury, chain } = emptyTreasury({ rpcUrls: [relay.url], watchBlocks: 40 })
  const final = await blockOf(network, 'latest')
  const early = await network.transfer(payers[0], treasury.address, 1n)
  await network.mine(100)
  const late = await network.transfer(payers[0], treasury.address, 2n)
  const read = async () => references((await readNewest(chain, { final })).incoming)
  expect(await read()).toEqual([early, late])
  // 102 blocks in three parts of two requests each.
  expect(relay.methods().filter((method) => method === 'eth_getLogs')).toHaveLength(6)
  const MOST = 7n
  relay.mood = {
    kind: 'error',
    code: -32_602,
    message: `eth_getLogs is limited to a ${MOST} block range`,
    when: isLargerRange(MOST),
  }
  expect(await read()).toEqual([early, late])
})

test('a range whose response is larger than 32 MiB is read in parts', async () => {
  const relay = await relayed()
  const { treasury, chain } = emptyTreasury({ rpcUrls: [relay.url] })
  const final = await blockOf(network, 'latest')
  const early = await network.transfer(payers[0], treasury.address, 1n)
  await network.mine(20)
  const late = await network.transfer(payers[0], treasury.address, 2n)
  const padding = 'x'.repeat(33 * 1024 * 1024)
  const isLarge = isLargerRange(11n)
  relay.mood = {
    kind: 'change',
    result: (call, result) =>
      isLarge(call) ? (result as object[]).map((log) => ({ ...log, padding })) : result,
  }
  expect(references((await readNewest(chain, { final })).incoming)).toEqual([early, late])
})

test('a single block whose response is larger than 32 MiB is read', async () => {
  const relay = await relayed()
  const { treasury, chain } = emptyTreasury({ rpcUrls: [relay.url] })
  const final = await blockOf(network, 'latest')
  const reference = await network.transfer(payers[0], treasury.address, 1n)
  const padding = 'x'.repeat(33 * 1024 * 1024)
  relay.mood = {
    kind: 'change',
    result: (call, result) =>
      call.method === 'eth_getLogs' ? (result as object[]).map((log) => ({ ...log, padding })) : result,
  }
  expect(references((await readNewest(chain, { final })).incoming)).toEqual([reference])
})

test('rejects a text that is not a position', async () => {
  const { chain } = emptyTreasury()
  const final = await chain.startingBlock()
  for (const text of ['12', '', `5:0x${'ab'.repeat(32)}~1`])
    await expect(newestAfter(chain, final, text, 10)).rejects.toThrow('is not a log position')
})

test('calls: 1 when there is no new block, 5 when there is one', async () => {
  const relay = await relayed()
  const { treasury, chain } = emptyTreasury({ rpcUrls: [relay.url] })
  const final = await blockOf(network, 'latest')
  await network.transfer(payers[0], treasury.address, 1n)
  const { position } = await readNewest(chain, { final })
  let since = relay.methods().length
  await newestAfter(chain, final, position, 10)
  expect(callsSince(relay.methods(), since)).toEqual(['eth_blockNumber'])
  await network.transfer(payers[0], treasury.address, 2n)
  since = relay.methods().length
  expect((await newestAfter(chain, final, position, 10))?.incoming).toHaveLength(1)
  expect(callsSince(relay.methods(), since)).toEqual([
    'eth_blockNumber',
    'eth_getBlockByNumber',
    'eth_getLogs',
    'eth_getLogs',
    'eth_getBlockByNumber',
  ])
})
