import { evmChain } from '@market/chains/evm/evm-chain'
import type { TransferQuery } from '@market/core/ports/chain'
import { usdc } from '@market/kernel/money'
import { BATCH_BYTECODE, FORGER_BYTECODE } from '@market/testing/contracts/payment-tricks'
import { startEvmNetwork } from '@market/testing/evm-network'
import { installUsdc, USDC_ABI } from '@market/testing/evm-usdc'
import {
  type Address,
  encodeFunctionData,
  type Hex,
  keccak256,
  type PrivateKeyAccount,
  parseAbi,
  zeroAddress,
} from 'viem'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import {
  authorizedBy,
  CONFIRMATIONS,
  FINALITY,
  fundedPayer,
  newAccount,
  question,
  settingsFor,
  verdict,
} from './evm-world.ts'

const TRICKS = parseAbi([
  'function forge(address from, address to, uint256 v)',
  'function pay(address t, address[] to, uint256[] v)',
])
const FAKE_USDC: Address = '0x1111111111111111111111111111111111111111'

const networks = {
  'base-mainnet': await startEvmNetwork({ chainId: 8453 }),
  'alt-mainnet': await startEvmNetwork({ chainId: 424_242 }),
}
afterAll(async () => {
  for (const network of Object.values(networks)) await network.stop()
})

describe.each(['base-mainnet', 'alt-mainnet'] as const)('on %s', async (name) => {
  const network = networks[name]
  const treasury = newAccount()
  const vault = newAccount()
  const payer = await fundedPayer(network)
  const settings = settingsFor(network, treasury.address, { network: name, ownAddresses: [vault.address] })
  const chain = evmChain(settings)
  const observe = async (reference: string, changes: Partial<TransferQuery> = {}) =>
    chain.findTransfer(question(reference, changes))
  const verdictOf = async (reference: string, changes: Partial<TransferQuery> = {}) =>
    verdict(await observe(reference, changes))
  const pay = (amount: bigint) => network.transfer(payer, treasury.address, amount)
  const confirmed = async (sent: Promise<Hex>): Promise<Hex> => {
    const hash = await sent
    await network.mine(CONFIRMATIONS - 1)
    return hash
  }
  const approve = (spender: Address) =>
    encodeFunctionData({ abi: USDC_ABI, functionName: 'approve', args: [spender, 10n ** 12n] })

  const authorized = (from: PrivateKeyAccount, amount: bigint) =>
    authorizedBy(network, from, treasury.address, amount)

  await installUsdc(network.rpc, FAKE_USDC)
  const forger = await network.deploy(FORGER_BYTECODE)
  const batch = await network.deploy(BATCH_BYTECODE)
  await network.call(payer, network.usdc, approve(batch))
  beforeEach(() => network.automine(true))

  test.each([
    '',
    '0x12',
    `0x${'g'.repeat(64)}`,
    'ab'.repeat(32),
    `0x${'ab'.repeat(33)}`,
    ` 0x${'ab'.repeat(32)}`,
  ])('%j is not a reference', async (reference) => {
    expect(await verdictOf(reference)).toBe('rejected: bad_reference')
  })

  test('an unknown transaction is pending', async () => {
    expect(await verdictOf(`0x${'ab'.repeat(32)}`)).toBe('pending: unknown')
  })

  test('a payment goes from the mempool over its confirmations to finality', async () => {
    await network.automine(false)
    const hash = await pay(11_000_000n)
    expect(await verdictOf(hash)).toBe('pending: in_mempool')
    for (let block = 1; block < CONFIRMATIONS; block++) {
      await network.mine(1)
      expect(await verdictOf(hash)).toBe('pending: unconfirmed')
    }
    await network.mine(1)
    expect(await verdictOf(hash)).toBe('ok')
    await network.mine(FINALITY - CONFIRMATIONS - 1)
    expect(await verdictOf(hash)).toBe('ok')
    await network.mine(1)
    expect(await verdictOf(hash)).toBe('ok, final')
  })

  test('returns amount, payer in lower case, time and block', async () => {
    const hash = await confirmed(pay(11_000_000n))
    const block = (await network.rpc('eth_getTransactionReceipt', [hash])) as Record<string, string>
    expect(await observe(hash, { minAmount: usdc(10_000_000n) })).toMatchObject({
      kind: 'ok',
      transfer: {
        reference: hash,
        amount: 11_000_000n,
        payer: payer.address.toLowerCase(),
        at: expect.any(Date),
        block: { height: BigInt(block['blockNumber'] ?? ''), hash: block['blockHash'] },
        final: false,
      },
    })
  })

  test('accepts a hash in upper case', async () => {
    const hash = await confirmed(pay(1n))
    const shouted = `0x${hash.slice(2).toUpperCase()}`
    expect(await observe(shouted)).toMatchObject({ kind: 'ok', transfer: { reference: hash } })
  })

  test('one micro-USDC less is underpaid, and the exact amount is accepted', async () => {
    const hash = await confirmed(pay(11_000_000n))
    expect(await observe(hash, { minAmount: usdc(11_000_001n) })).toEqual({
      kind: 'rejected',
      reason: 'underpaid',
      detail: '11000000 of 11000001 micro-USDC',
    })
    expect(await verdictOf(hash, { minAmount: usdc(11_000_000n) })).toBe('ok')
  })

  test('accepts only the given payers, in any address case', async () => {
    const hash = await confirmed(pay(5n))
    expect(await verdictOf(hash, { payers: [newAccount().address] })).toBe('rejected: wrong_payer')
    expect(await verdictOf(hash, { payers: [] })).toBe('rejected: wrong_payer')
    expect(await verdictOf(hash, { payers: [payer.address] })).toBe('ok')
    expect(await verdictOf(hash, { payers: [payer.address.toLowerCase()] })).toBe('ok')
  })

  test('rejects a payment outside the time range', async () => {
    const hash = await confirmed(pay(5n))
    const [hence, ago] = [new Date(Date.now() + 600_000), new Date(Date.now() - 600_000)]
    expect(await verdictOf(hash, { notBefore: hence, notAfter: hence })).toBe('rejected: too_old')
    expect(await verdictOf(hash, { notBefore: ago, notAfter: ago })).toBe('rejected: too_new')
  })

  test('rejects another token with the same contract code', async () => {
    const mint = encodeFunctionData({ abi: USDC_ABI, functionName: 'mint', args: [payer.address, 9n] })
    await network.call(payer, FAKE_USDC, mint)
    const data = encodeFunctionData({ abi: USDC_ABI, functionName: 'transfer', args: [treasury.address, 9n] })
    expect(await verdictOf(await confirmed(network.call(payer, FAKE_USDC, data)))).toBe(
      'rejected: no_transfer',
    )
  })

  test('rejects a Transfer event of another contract', async () => {
    const args = [payer.address, treasury.address, 5n] as const
    const data = encodeFunctionData({ abi: TRICKS, functionName: 'forge', args })
    expect(await verdictOf(await confirmed(network.call(payer, forger, data)))).toBe('rejected: no_transfer')
  })

  test('rejects a transfer of 0 from any address', async () => {
    const zero = parseAbi(['function transferFrom(address from, address to, uint256 value) returns (bool)'])
    const args = [newAccount().address, treasury.address, 0n] as const
    const data = encodeFunctionData({ abi: zero, functionName: 'transferFrom', args })
    const hash = await confirmed(network.call(payer, network.usdc, data))
    expect(await verdictOf(hash, { minAmount: usdc(0n) })).toBe('rejected: no_transfer')
  })

  test('rejects a transfer to another address', async () => {
    const hash = await confirmed(network.transfer(payer, newAccount().address, 5n))
    expect(await verdictOf(hash)).toBe('rejected: no_transfer')
  })

  test('rejects a reverted transaction', async () => {
    expect(await verdictOf(await confirmed(pay(10n ** 15n)))).toBe('rejected: failed_on_chain')
  })

  test('counts each transfer to the treasury in a batch on its own', async () => {
    const to = [treasury.address, newAccount().address, treasury.address]
    const data = encodeFunctionData({
      abi: TRICKS,
      functionName: 'pay',
      args: [network.usdc, to, [3n, 4n, 5n]],
    })
    const hash = await confirmed(network.call(payer, batch, data))
    expect(await observe(hash, { minAmount: usdc(4n) })).toMatchObject({ transfer: { index: 1, amount: 5n } })
    expect(await verdictOf(hash, { minAmount: usdc(6n) })).toBe('rejected: underpaid')
  })

  test('the payer of a relayed authorization is its signer', async () => {
    const relayer = await fundedPayer(network)
    const data = await authorized(payer, 7n)
    const hash = await confirmed(network.call(relayer, network.usdc, data))
    expect(await verdictOf(hash, { payers: [relayer.address] })).toBe('rejected: wrong_payer')
    expect(await observe(hash, { payers: [payer.address] })).toMatchObject({
      kind: 'ok',
      transfer: { amount: 7n, payer: payer.address.toLowerCase() },
    })
  })

  test('of several transfers in one transaction: takes the payer’s, then one that reaches the amount, then an unused one, then the closest amount', async () => {
    const other = await fundedPayer(network)
    const calls = [await authorized(payer, 7n), await authorized(other, 9n), await authorized(other, 3n)]
    const hash = await confirmed(network.callMany(network.usdc, calls))
    const found = async (changes: Parameters<typeof question>[1] = {}) => {
      const observation = await observe(hash, changes)
      return observation.kind === 'ok' ? observation.transfer.index : verdict(observation)
    }
    expect(await found()).toBe('rejected: ambiguous_payer')
    const payers = [payer.address, other.address]
    const amounts = { 1: 2, 3: 2, 4: 0, 7: 0, 8: 1, 9: 1, 10: 'rejected: underpaid' }
    for (const [amount, index] of Object.entries(amounts))
      expect(await found({ payers, minAmount: usdc(BigInt(amount)) }), `${amount} is due`).toBe(index)
    expect(await found({ payers, minAmount: usdc(1n), expected: usdc(8n) })).toBe(1)
    expect(await found({ payers, minAmount: usdc(1n), expected: usdc(50n) })).toBe(1)
    expect(await found({ minAmount: usdc(1n), payers: [payer.address] })).toBe(0)
    expect(await found({ minAmount: usdc(8n), payers: [payer.address] })).toBe('rejected: underpaid')
    expect(await found({ minAmount: usdc(3n), payers: [other.address] })).toBe(2)
    expect(await found({ minAmount: usdc(3n), payers: [other.address], used: [2] })).toBe(1)
    expect(await found({ minAmount: usdc(3n), payers: [other.address], used: [1, 2] })).toBe(2)
    expect(await found({ minAmount: usdc(4n), payers: [other.address], used: [1] })).toBe(1)
    expect(await found({ minAmount: usdc(3n), payers: [other.address], index: 1 })).toBe(1)
    expect(await found({ minAmount: usdc(1n), payers, index: 3 })).toBe('rejected: wrong_payer')
  })

  test('newly minted USDC has no payer', async () => {
    const hash = await confirmed(network.mint(treasury.address, 9n))
    expect(await observe(hash)).toMatchObject({ kind: 'ok', transfer: { amount: 9n, payer: null } })
    expect(await verdictOf(hash, { payers: [payer.address, zeroAddress] })).toBe('rejected: wrong_payer')
  })

  test('rejects a transfer from an own address', async () => {
    for (const own of [vault, treasury]) {
      await network.fund(own.address)
      await network.mint(own.address, 100n)
      const hash = await confirmed(network.transfer(own, treasury.address, 5n))
      expect(await verdictOf(hash, { payers: [own.address] })).toBe('rejected: own_transfer')
    }
  })

  test('a larger payment needs more confirmations, and the largest needs finality', async () => {
    const patient = evmChain({
      ...settings,
      confirmations: [
        { from: usdc(10n), blocks: 'final' },
        { from: usdc(0n), blocks: 1 },
        { from: usdc(5n), blocks: 2 },
      ],
    })
    const of = async (hash: Hex) => verdict(await patient.findTransfer(question(hash)))
    expect(await of(await pay(4n))).toBe('ok')
    const middle = await pay(5n)
    expect(await of(middle)).toBe('pending: unconfirmed')
    await network.mine(1)
    expect(await of(middle)).toBe('ok')
    const biggest = await pay(10n)
    await network.mine(FINALITY - 2)
    expect(await of(biggest)).toBe('pending: unconfirmed')
    await network.mine(1)
    expect(await of(biggest)).toBe('ok, final')
  })

  test('a payment removed by a reorganization is found again after it is sent again', async () => {
    const hash = await confirmed(pay(1_000_000n))
    const before = await observe(hash)
    const bytes = await network.rpc('eth_getRawTransactionByHash', [hash])
    await network.reorg(CONFIRMATIONS)
    expect(await verdictOf(hash)).toBe('pending: unknown')
    await network.rpc('eth_sendRawTransaction', [bytes])
    await network.mine(CONFIRMATIONS)
    const after = await observe(hash)
    expect([verdict(before), verdict(after)]).toEqual(['ok', 'ok'])
    if (before.kind !== 'ok' || after.kind !== 'ok') throw new Error('both were paid')
    expect(after.transfer.block.hash).not.toBe(before.transfer.block.hash)
  })

  test('returns the balance at the newest and at the newest final block', async () => {
    const holder = newAccount().address
    await network.mint(holder, 5n)
    expect(await chain.balanceOf(holder)).toMatchObject({ final: 0n, latest: 5n })
    await network.mine(FINALITY)
    expect(await chain.balanceOf(holder)).toMatchObject({ final: 5n, latest: 5n })
  })
})

test('the same transaction on two networks is a payment on each', async () => {
  const payer = newAccount()
  const treasury = newAccount()
  for (const network of Object.values(networks)) {
    await network.fund(payer.address)
    await network.mint(payer.address, 100n)
  }
  // A transaction without a chain id is valid on every chain.
  const data = encodeFunctionData({ abi: USDC_ABI, functionName: 'transfer', args: [treasury.address, 11n] })
  const { usdc: to } = networks['base-mainnet']
  const fee = { gasPrice: 100n * 10n ** 9n, gas: 100_000n }
  const bytes = await payer.signTransaction({ type: 'legacy', nonce: 0, to, data, ...fee })
  for (const [name, network] of Object.entries(networks)) {
    await network.rpc('eth_sendRawTransaction', [bytes])
    await network.mine(CONFIRMATIONS)
    const chain = evmChain(settingsFor(network, treasury.address, { network: name as 'base-mainnet' }))
    expect(await chain.findTransfer(question(keccak256(bytes)))).toMatchObject({
      kind: 'ok',
      transfer: { amount: 11n, reference: keccak256(bytes) },
    })
  }
})
