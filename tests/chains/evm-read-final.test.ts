import { evmChain } from '@market/chains/evm/evm-chain'
import { AUTHORIZATION_USED_TOPIC } from '@market/chains/evm/transfers'
import { type FinalBlock, TooFewProviders } from '@market/core/ports/chain'
import { startEvmNetwork } from '@market/testing/evm-network'
import { toHex } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  blockOf,
  callsSince,
  isLargerRange,
  newPayout,
  payOut,
  placeOf,
  readFinalBlocks,
  references,
  stuckAt,
  submit,
  treasuryWith,
} from './evm-movements.ts'
import { FINALITY, fundedPayer, newAccount, settingsFor } from './evm-world.ts'
import { type Mood, type NodeRelay, type RpcCall, relayTo } from './node-relay.ts'

const network = await startEvmNetwork({ chainId: 8453 })
const relays = await Promise.all(Array.from({ length: 4 }, () => relayTo(network.url)))
const [first, second, third, fourth] = relays as [NodeRelay, NodeRelay, NodeRelay, NodeRelay]
const payer = await fundedPayer(network)
afterAll(async () => {
  for (const relay of relays) await relay.stop()
  await network.stop()
})
beforeEach(async () => {
  for (const relay of relays) relay.mood = { kind: 'pass' }
  await network.automine(true)
})

const NAMES = ['amber', 'blue', 'coral', 'dune']
type Changes = Parameters<typeof settingsFor>[2]
/** Reads the treasury by so many providers, of which two must agree. */
const chainOf = (treasury: string, nodes: readonly NodeRelay[], changes: Changes = {}) =>
  evmChain(
    settingsFor(network, treasury, {
      rpcUrls: nodes.map(({ url }) => url),
      providers: NAMES.slice(0, nodes.length),
      minProviders: 2,
      ...changes,
    }),
  )

const changing = (result: (call: RpcCall, result: unknown) => unknown): Mood => ({ kind: 'change', result })
const blockByTag = (call: RpcCall): boolean =>
  call.method === 'eth_getBlockByNumber' && call.params[0] === 'finalized'
/** A node whose newest final block is another one. */
const finalAt = (block: unknown): Mood => changing((call, result) => (blockByTag(call) ? block : result))
const rpcBlock = (height: bigint | 'latest') =>
  network.rpc('eth_getBlockByNumber', [height === 'latest' ? height : toHex(height), false])

/** A treasury with two payments and a payout in final blocks, and one of each in blocks that are not final. */
const world = async () => {
  const { account, sender } = await treasuryWith(network)
  await network.mine(1)
  const { height, hash } = await blockOf(network, 'latest')
  const start: FinalBlock = { height, hash }
  const incoming = [
    await network.transfer(payer, account.address, 5n),
    await network.transfer(payer, account.address, 6n),
  ]
  const payout = await payOut(network, sender, newPayout(7n), 0n)
  await network.mine(FINALITY - 2)
  await network.transfer(payer, account.address, 8n)
  await payOut(network, sender, newPayout(9n), 1n)
  return { treasury: account.address, account, sender, start, incoming, outgoing: [payout.reference] }
}
let shared: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  shared = await world()
})
const read = (nodes: readonly NodeRelay[], changes: Changes = {}) =>
  chainOf(shared.treasury, nodes, changes).finalMovementsAfter(shared.start)

describe('the starting block', () => {
  test('is the one before `watchFrom`, and the newest final one where `watchFrom` is later', async () => {
    const { height, hash } = shared.start
    const starting = (watchFrom: bigint) =>
      chainOf(shared.treasury, [first, second], { watchFrom }).startingBlock()
    expect(await starting(height + 1n)).toEqual({ height, hash })
    const final = await blockOf(network, 'finalized')
    expect(await starting(10n ** 6n)).toEqual({ height: final.height, hash: final.hash })
    expect(await starting(0n)).toMatchObject({ height: 0n })
  })

  test('without `watchFrom` is 10,000 blocks before the newest final one, or the first of a shorter chain', async () => {
    const chain = chainOf(shared.treasury, [first, second])
    const genesis = await blockOf(network, 0n)
    expect(await chain.startingBlock()).toEqual({ height: 0n, hash: genesis.hash })
    const { height, hash } = await blockOf(network, 4n)
    const long = finalAt({ ...((await rpcBlock(height)) as object), number: toHex(height + 10_000n) })
    first.mood = long
    second.mood = long
    expect(await chain.startingBlock()).toEqual({ height, hash })
  })
})

test('two providers that show the same make exactly the transfers of the final blocks final', async () => {
  const { incoming, outgoing } = shared
  const { height, hash } = await blockOf(network, 'finalized')
  const { agreed, isEnd, disagreeing } = await read([first, second])
  expect({ isEnd, disagreeing }).toEqual({ isEnd: true, disagreeing: [] })
  expect(agreed?.to).toMatchObject({ height, hash })
  expect(references(agreed?.incoming ?? [])).toEqual(incoming)
  expect(agreed?.incoming).toMatchObject([
    { amount: 5n, final: true, index: 0, payer: payer.address.toLowerCase() },
    { amount: 6n, final: true, index: 0, payer: payer.address.toLowerCase() },
  ])
  expect(references(agreed?.outgoing ?? [])).toEqual(outgoing)
  expect(agreed?.outgoing).toMatchObject([{ amount: 7n }])
  for (const { reference, block } of [...(agreed?.incoming ?? []), ...(agreed?.outgoing ?? [])])
    expect(block.hash).toBe(await placeOf(network, reference))
})

test('after the newest final block there is nothing until another one is final', async () => {
  const chain = chainOf(shared.treasury, [first, second])
  const { to } = await readFinalBlocks(chain, shared.start)
  expect(await chain.finalMovementsAfter(to)).toEqual({ agreed: undefined, isEnd: true, disagreeing: [] })
  const own = await world()
  const later = await chainOf(own.treasury, [first, second]).finalMovementsAfter(to)
  expect(references(later.agreed?.incoming ?? []).slice(-2)).toEqual(own.incoming)
})

/** Changes the log of the first payment to the shared treasury. */
const inFirstLog = (change: (log: Record<string, unknown>) => object[]): Mood =>
  changing(({ method }, result) =>
    method === 'eth_getLogs'
      ? (result as Record<string, unknown>[]).flatMap((log) =>
          log['transactionHash'] === shared.incoming[0] ? change(log) : [log],
        )
      : result,
  )
const stranger = `0x${'ab'.repeat(20).padStart(64, '0')}`
const LIES: Record<string, Mood> = {
  'without a payment': inFirstLog(() => []),
  'that calls a payment removed': inFirstLog((log) => [{ ...log, removed: true }]),
  'with another amount': inFirstLog((log) => [{ ...log, data: toHex(500n, { size: 32 }) }]),
  'with another payer': inFirstLog((log) => [
    { ...log, topics: [(log['topics'] as string[])[0], stranger, (log['topics'] as string[])[2]] },
  ]),
  'with another token': inFirstLog((log) => [{ ...log, address: stranger.replace(/^0x0{24}/, '0x') }]),
  'with another time': inFirstLog((log) => [{ ...log, blockTimestamp: '0x1' }]),
  'with another height': inFirstLog((log) => [{ ...log, blockNumber: '0x1' }]),
  'with another block': inFirstLog((log) => [{ ...log, blockHash: toHex(7n, { size: 32 }) }]),
  'with one payment more': inFirstLog((log) => [
    log,
    { ...log, logIndex: '0xff', transactionHash: toHex(9n, { size: 32 }) },
  ]),
  'without a payout': changing(({ method, params }, result) => {
    const [, from] = ((params[0] ?? {}) as { topics?: (string | null)[] }).topics ?? []
    return method === 'eth_getLogs' && from !== null ? [] : result
  }),
  'without the authorization of a payout': changing(({ method }, result) =>
    method === 'eth_getLogs'
      ? (result as { topics: string[] }[]).filter(({ topics }) => topics[0] !== AUTHORIZATION_USED_TOPIC)
      : result,
  ),
  'with another last block': changing(({ method, params }, result) => {
    const isExact = method === 'eth_getBlockByNumber' && params[0] !== 'finalized'
    const isAnchor = params[0] === toHex(shared.start.height)
    return isExact && !isAnchor ? { ...(result as object), hash: toHex(8n, { size: 32 }) } : result
  }),
}

describe.each(Object.entries(LIES))('a provider %s', (_, mood) => {
  test.each([
    ['first', first],
    ['second', second],
  ] as const)('makes nothing final as the %s of two, and both are named', async (_name, liar) => {
    liar.mood = mood
    expect(await read([first, second])).toEqual({
      agreed: undefined,
      isEnd: false,
      disagreeing: ['amber', 'blue'],
    })
  })

  test('does not change what two others agree on, and is named', async () => {
    const truth = await read([second, third])
    first.mood = mood
    expect(await read([first, second, third])).toEqual({ ...truth, disagreeing: ['amber', 'blue', 'coral'] })
  })
})

test('of two pairs of providers that contradict each other neither makes anything final', async () => {
  const mood = LIES['without a payment'] ?? { kind: 'pass' }
  first.mood = mood
  third.mood = mood
  expect(await read([first, second, third, fourth])).toEqual({
    agreed: undefined,
    isEnd: false,
    disagreeing: NAMES,
  })
})

test('logs without a time count as equal to those with one', async () => {
  const truth = await read([second, third])
  first.mood = changing(({ method }, result) =>
    method === 'eth_getLogs'
      ? (result as object[]).map((log) => ({ ...log, blockTimestamp: undefined }))
      : result,
  )
  expect(await read([first, second])).toEqual(truth)
})

describe('a provider that is behind', () => {
  test('delays finality, where two are required, and contradicts nobody', async () => {
    const { height } = await blockOf(network, 'finalized')
    second.mood = finalAt(await rpcBlock(height - 2n))
    const { agreed, isEnd, disagreeing } = await read([first, second])
    expect(agreed?.to.height).toBe(height - 2n)
    expect({ isEnd, disagreeing }).toEqual({ isEnd: true, disagreeing: [] })
    second.mood = finalAt(await rpcBlock(shared.start.height - 1n))
    expect(await read([first, second])).toEqual({ agreed: undefined, isEnd: true, disagreeing: [] })
    second.mood = finalAt(null)
    expect(await read([first, second])).toMatchObject({ agreed: undefined, disagreeing: [] })
  })

  test('does not count beside two others', async () => {
    const truth = await read([first, second])
    third.mood = finalAt(await rpcBlock(shared.start.height + 1n))
    expect(await read([first, second, third])).toEqual(truth)
    third.mood = changing(stuckAt(shared.start.height))
    expect(await read([first, second, third])).toEqual(truth)
  })

  test.each([
    ['no longer calls the block final', async () => rpcBlock(shared.start.height)],
    ['has no final block', async () => null],
  ])('and %s in its second response is one too few of two', async (_, later) => {
    const block = await later()
    let asked = 0
    second.mood = changing((call, result) => {
      if (!blockByTag(call)) return result
      asked += 1
      return asked === 1 ? result : block
    })
    const reading = read([first, second])
    await expect(reading).rejects.toBeInstanceOf(TooFewProviders)
    await expect(reading).rejects.toThrow('1 of 2 required providers of base-mainnet show the final blocks')
    await expect(reading).rejects.toThrow('has no final block')
  })

  test('and does not have the last block is one too few of two', async () => {
    const { height } = await blockOf(network, 'finalized')
    second.mood = changing(({ method, params }, result) =>
      method === 'eth_getBlockByNumber' && params[0] === toHex(height) ? null : result,
    )
    await expect(read([first, second])).rejects.toThrow(`does not have block ${height}`)
    expect((await read([first, second, third])).disagreeing).toEqual([])
  })
})

describe('a provider that calls blocks final too early', () => {
  test('makes nothing final, alone among two or three', async () => {
    const truth = await read([second, third])
    const { height } = await blockOf(network, 'finalized')
    first.mood = finalAt(await rpcBlock('latest'))
    expect(truth.agreed?.to.height).toBe(height)
    expect(await read([first, second])).toEqual(truth)
    expect(await read([first, second, third])).toEqual(truth)
  })
})

describe('a provider that fails', () => {
  const methods = ['eth_getLogs', 'eth_getBlockByNumber'] as const
  test.each(methods)('at %s is one too few of two, and two others decide without it', async (method) => {
    const truth = await read([second, third])
    first.mood = {
      kind: 'error',
      code: -32_000,
      message: 'upstream busy',
      when: (call) => call.method === method,
    }
    await expect(read([first, second])).rejects.toThrow(/too few providers|1 of 2 required providers/)
    expect(await read([first, second, third])).toEqual(truth)
  })

  test('counts once, also with two nodes, and is asked by its other node', async () => {
    const truth = await read([second, third])
    first.mood = { kind: 'reset' }
    const oneProvider = { providers: ['amber', 'amber'] }
    await expect(read([second, third], oneProvider)).rejects.toThrow('too few providers')
    expect(await read([first, second, third], { providers: ['amber', 'amber', 'blue'] })).toEqual(truth)
  })
})

test('of a network where one provider is enough, the first node that responds decides', async () => {
  const truth = await read([second, third])
  first.mood = { kind: 'reset' }
  expect(await read([first, second], { minProviders: 1 })).toEqual(truth)
})

describe('a provider on another chain', async () => {
  const foreign = await startEvmNetwork({ chainId: 8453 })
  const [away, alsoAway] = [await relayTo(foreign.url), await relayTo(foreign.url)]
  beforeAll(async () => {
    const { height } = await blockOf(network, 'latest')
    await foreign.mine(Number(height) + FINALITY)
  })
  afterAll(async () => {
    await away.stop()
    await alsoAway.stop()
    await foreign.stop()
  })

  test('contradicts the other one, and two others decide without it', async () => {
    const truth = await read([second, third])
    expect(await read([away, second])).toEqual({
      agreed: undefined,
      isEnd: false,
      disagreeing: ['amber', 'blue'],
    })
    expect(await read([away, second, third])).toEqual({ ...truth, disagreeing: ['amber', 'blue', 'coral'] })
  })

  test('like another one is an error that names both, and never a result', async () => {
    await expect(read([away, alsoAway])).rejects.toThrow(
      'base-mainnet: amber, blue do not continue the final block that was read last',
    )
    await expect(read([first, away, alsoAway])).rejects.toThrow('base-mainnet: blue, coral do not continue')
  })
})

test('a final block that was replaced is an error that names the providers, and never a result', async () => {
  const own = await startEvmNetwork({ chainId: 8453 })
  const [one, other] = [await relayTo(own.url), await relayTo(own.url)]
  try {
    await own.mine(3 * FINALITY)
    const { height, hash } = await blockOf(own, 'finalized')
    const chain = chainOf(newAccount().address, [one, other])
    await own.mine(2)
    expect(await chain.finalMovementsAfter({ height, hash })).toMatchObject({ isEnd: true, disagreeing: [] })
    await own.reorg(FINALITY + 4)
    await own.mine(2)
    await expect(chain.finalMovementsAfter({ height, hash })).rejects.toThrow(
      'amber, blue do not continue the final block that was read last',
    )
  } finally {
    await one.stop()
    await other.stop()
    await own.stop()
  }
})

describe('a long range', () => {
  test('is read in parts, in which each transfer is final once', async () => {
    const { account, sender } = await treasuryWith(network)
    await network.mine(1)
    const { height, hash } = await blockOf(network, 'latest')
    const start = { height, hash }
    const sent = { incoming: [] as string[], outgoing: [] as string[] }
    for (let nonce = 0n; nonce < 7n; nonce++) {
      sent.incoming.push(await network.transfer(payer, account.address, 1n + nonce))
      sent.outgoing.push((await payOut(network, sender, newPayout(2n), nonce)).reference)
      await network.mine(5)
    }
    // 49 blocks after the start, of which the last 8 are not final.
    await network.mine(8)
    const chain = chainOf(account.address, [first, second], { watchBlocks: 10 })
    let to: FinalBlock = start
    const ends: { readonly height: bigint; readonly isEnd: boolean }[] = []
    const found = { incoming: [] as string[], outgoing: [] as string[] }
    while (ends.at(-1)?.isEnd !== true) {
      const { agreed, isEnd } = await chain.finalMovementsAfter(to)
      if (agreed === undefined) throw new Error('both providers show these blocks')
      to = agreed.to
      ends.push({ height: to.height - height, isEnd })
      found.incoming.push(...references(agreed.incoming))
      found.outgoing.push(...references(agreed.outgoing))
      expect(to.hash).toBe((await blockOf(network, to.height)).hash)
    }
    expect(ends).toEqual([
      ...[10n, 20n, 30n, 40n].map((at) => ({ height: at, isEnd: false })),
      { height: 49n, isEnd: true },
    ])
    expect(found).toEqual(sent)
  })

  test('is halved until every provider returns logs for it', async () => {
    const truth = await readFinalBlocks(chainOf(shared.treasury, [third, fourth]), shared.start)
    const refusing = (most: bigint): Mood => ({
      kind: 'error',
      ...{ code: -32_602, message: `query returned more than ${most} results` },
      when: isLargerRange(most),
    })
    first.mood = refusing(3n)
    second.mood = refusing(5n)
    expect(await readFinalBlocks(chainOf(shared.treasury, [first, second]), shared.start)).toEqual(truth)
    first.mood = refusing(0n)
    await expect(read([first, second])).rejects.toBeInstanceOf(TooFewProviders)
    await expect(read([first, second])).rejects.toThrow('more than 0 results')
    // Two others decide about the whole range without it.
    expect((await read([first, third, fourth])).agreed?.to).toEqual(truth.to)
  })
})

test('many transfers in one block are all final', async () => {
  const { account, sender } = await treasuryWith(network)
  await network.mine(1)
  const start = await blockOf(network, 'latest')
  await network.automine(false)
  const sent: string[] = []
  for (let nonce = 0n; nonce < 60n; nonce++) sent.push((await submit(sender, newPayout(1n), nonce)).reference)
  await network.mine(FINALITY)
  const { agreed } = await chainOf(account.address, [first, second]).finalMovementsAfter(start)
  expect(references(agreed?.outgoing ?? [])).toEqual(sent)
})

test('calls per provider: 1 without a new final block, 7 with one', async () => {
  const chain = chainOf(shared.treasury, [first, second])
  const { to } = await readFinalBlocks(chain, shared.start)
  const counted = async () => {
    const since = [first, second].map((relay) => relay.methods().length)
    await chain.finalMovementsAfter(to)
    return [first, second].map((relay, index) => callsSince(relay.methods(), since[index] ?? 0))
  }
  const idle = ['eth_getBlockByNumber']
  expect(await counted()).toEqual([idle, idle])
  await network.mine(1)
  const one = [
    ...idle,
    'eth_getBlockByNumber',
    'eth_getBlockByNumber',
    'eth_getLogs',
    'eth_getLogs',
    'eth_getBlockByNumber',
    // What the treasury has there.
    'eth_call',
  ]
  expect(await counted()).toEqual([one, one])
})

describe('heights', () => {
  test('final and horizon are the height of the finality block', async () => {
    const { height: final } = await blockOf(network, 'finalized')
    const newest = await blockOf(network, 'latest')
    const until = new Date(newest.at.getTime() + 31 * 60_000)
    expect(await chainOf(shared.treasury, [first, second]).heights()).toEqual({
      ...{ final, horizon: final },
      alive: { height: newest.height, until },
    })
  })

  test('are -1 when no block is final', async () => {
    const young: Mood = { kind: 'error', code: -39_001, message: 'Unknown block', when: blockByTag }
    first.mood = young
    const chain = chainOf(shared.treasury, [first], { minProviders: 1 })
    expect(await chain.heights()).toMatchObject({ final: -1n, horizon: -1n })
    expect(await chain.finalMovementsAfter(shared.start)).toMatchObject({ agreed: undefined, isEnd: true })
  })
})
