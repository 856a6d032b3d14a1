import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { solanaChain } from '@market/chains/solana/solana-chain'
import { openSolanaFacilitator } from '@market/chains/solana/solana-facilitator'
import type { Settlement, SignedPayment } from '@market/core/ports/facilitator'
import { SOLANA_USDC } from '@market/testing/solana-usdc'
import {
  type Address,
  address,
  appendTransactionMessageInstructions,
  compressTransactionMessageUsingAddressLookupTables,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
  partiallySignTransactionMessageWithSigners,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit'
import { getAddMemoInstruction, LEGACY_MEMO_PROGRAM_ADDRESS_V3 } from '@solana-program/memo'
import { getTransferSolInstruction } from '@solana-program/system'
import { getApproveCheckedInstruction, getTransferCheckedInstruction } from '@solana-program/token'
import { afterAll, expect, test } from 'vitest'
import { verdict } from '../chains/evm-world.ts'
import { always, type Manner, startSolanaRelay } from '../chains/solana-relay.ts'
import { signNow } from './sign-now.ts'
import { limitOf, PRICE, priceOf, startSolanaFacilitator } from './solana-facilitator-world.ts'

const world = await startSolanaFacilitator()
afterAll(() => world.stop())
const { facilitator, solana, buyer, gas } = world
const UNKNOWN = { kind: 'unknown' }
const arrived = (reference: string) => ({ kind: 'arrived', reference })
const mint = address(SOLANA_USDC)
const accountOf = async (owner: string): Promise<Address> => address(await solana.usdc.accountOf(owner))

/** Polls until there is a result. */
const once = async <T>(ask: () => Promise<T | undefined>): Promise<T> => {
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    await wait(20)
  }
}

const confirmed = (settlement: Settlement, payment: SignedPayment) =>
  once(async () => {
    const observation = await facilitator.observe(settlement, payment)
    return observation.kind === 'unknown' ? undefined : observation
  })

const memo = (text = 'a hire'): Instruction =>
  getAddMemoInstruction({ memo: text }, { programAddress: LEGACY_MEMO_PROGRAM_ADDRESS_V3 })

const transfer = async (
  changes: {
    readonly from?: KeyPairSigner
    readonly to?: string
    readonly amount?: bigint
    readonly authority?: KeyPairSigner
  } = {},
): Promise<Instruction> => {
  const { from = buyer, to = solana.treasury.address, amount = PRICE, authority = from } = changes
  const [source, destination] = await Promise.all([accountOf(from.address), accountOf(to)])
  return getTransferCheckedInstruction({ source, mint, destination, authority, amount, decimals: 6 })
}

const code = (payment: SignedPayment) => facilitator.rejectionReason(payment, PRICE)

test('an unmodified client pays, the signed transaction is broadcast repeatedly, and the treasury is paid once', async () => {
  const payment = await world.pay()
  expect(facilitator.parsePayment(payment)).toEqual({
    kind: 'message',
    proof: expect.stringMatching(/^[0-9a-f]{64}$/),
    payer: buyer.address,
  })
  const before = await solana.usdc.balanceOf(solana.treasury.address)
  const lamports = (await facilitator.readGas()).balance
  const settlement = await world.settle(payment)
  for (let again = 0; again < 5; again += 1) await facilitator.send(settlement)
  expect(await confirmed(settlement, payment)).toEqual(arrived(settlement.reference))
  expect((await solana.usdc.balanceOf(solana.treasury.address)) - before).toBe(PRICE)
  expect(lamports - (await facilitator.readGas()).balance).toBe(10_001n)
  expect((await facilitator.readTerms()).minedNonce).toBeNull()
})

test('extra: has the fields that a requirement needs besides asset, address and amount', () => {
  expect(facilitator).toMatchObject({
    network: 'solana-mainnet',
    caip2: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    v1: 'solana',
    gasAccount: gas,
    extra: { feePayer: gas },
  })
})

test('the content of our signature slot does not change the payment’s identity', async () => {
  const payment = await world.pay()
  const bytes = Buffer.from(payment.transaction, 'base64')
  // The first byte is the number of signatures; the fee payer's signature follows.
  bytes.set(randomBytes(64), 1)
  const other = { transaction: bytes.toString('base64') }
  expect(other).not.toEqual(payment)
  expect(facilitator.parsePayment(other)).toEqual(facilitator.parsePayment(payment))
  const [settlement, again] = [await signNow(facilitator, payment), await world.settle(other)]
  expect(again).toMatchObject({ reference: settlement.reference, bytes: settlement.bytes })
  expect(await confirmed(again, other)).toEqual(arrived(settlement.reference))
})

test('a legacy transaction without a version is accepted', async () => {
  const payment = await world.built([limitOf(), priceOf(), await transfer()], { legacy: true })
  const settlement = await world.settle(payment)
  expect(await confirmed(settlement, payment)).toEqual(arrived(settlement.reference))
})

const otherAccount = await solana.wallet(10_000_000n)
const unfunded = await generateKeyPairSigner()
const budget = [limitOf(), priceOf()]
const BASE = 'invalid_exact_svm_payload'
const REJECTIONS: readonly (readonly [string, () => Promise<readonly Instruction[]>, string])[] = [
  ['too few instructions', async () => budget, `${BASE}_transaction_instructions_length`],
  [
    'too many',
    async () => [...budget, await transfer(), memo('1'), memo('2'), memo('3'), memo('4'), memo('5')],
    `${BASE}_transaction_instructions_length`,
  ],
  [
    'no limit of units',
    async () => [priceOf(), priceOf(), await transfer()],
    `${BASE}_transaction_instructions_compute_limit_instruction`,
  ],
  [
    'too many units',
    async () => [limitOf(60_001), priceOf(), await transfer()],
    `${BASE}_transaction_instructions_compute_limit_instruction_too_high`,
  ],
  [
    'no price',
    async () => [limitOf(), limitOf(), await transfer()],
    `${BASE}_transaction_instructions_compute_price_instruction`,
  ],
  [
    'too high a price',
    async () => [limitOf(), priceOf(1_000_001n), await transfer()],
    `${BASE}_transaction_instructions_compute_price_instruction_too_high`,
  ],
  ['no transfer', async () => [...budget, memo()], `${BASE}_no_transfer_instruction`],
  [
    'another payee',
    async () => [...budget, await transfer({ to: otherAccount.address })],
    `${BASE}_recipient_mismatch`,
  ],
  ['less', async () => [...budget, await transfer({ amount: PRICE - 1n })], `${BASE}_amount_mismatch`],
  ['more', async () => [...budget, await transfer({ amount: PRICE + 1n })], `${BASE}_amount_mismatch`],
  [
    'a second transfer',
    async () => [...budget, await transfer(), await transfer({ to: otherAccount.address })],
    `${BASE}_unknown_optional_instruction`,
  ],
  [
    'a third signer',
    async () => [
      ...budget,
      await transfer(),
      getTransferSolInstruction({ source: otherAccount, destination: gas, amount: 1n }),
    ],
    `${BASE}_excessive_signers`,
  ],
  ['nothing to pay with', async () => [...budget, await transfer({ from: unfunded })], 'insufficient_funds'],
]
test.each(REJECTIONS)('rejects with a specific code: %s', async (_name, instructions, expected) => {
  expect(await code(await world.built(await instructions()))).toBe(expected)
})

test('rejects instructions that would use our gas account for anything but fees', async () => {
  const ours = { address: gas, signTransactions: async () => [] }
  const drain = getTransferSolInstruction({ source: ours, destination: buyer.address, amount: 1n })
  expect(await code(await world.built([...budget, await transfer(), drain]))).toBe(
    `${BASE}_transaction_fee_payer_included_in_instruction_accounts`,
  )
  const [source, destination] = await Promise.all([accountOf(gas), accountOf(solana.treasury.address)])
  const own = getTransferCheckedInstruction({
    source,
    mint,
    destination,
    authority: ours,
    amount: PRICE,
    decimals: 6,
  })
  const payment = await world.built([...budget, own])
  expect(await code(payment)).toBe(`${BASE}_transaction_fee_payer_transferring_funds`)
  await expect(signNow(facilitator, payment)).rejects.toThrow('signs only payments to the treasury')
  const elsewhere = await world.built([...budget, await transfer()], { feePayer: otherAccount.address })
  expect(await code(elsewhere)).toBe('invalid_exact_svm_fee_payer_mismatch')
})

test('rejects another mint', async () => {
  const other = address(otherAccount.address)
  const [source, destination] = await Promise.all([
    accountOf(buyer.address),
    accountOf(solana.treasury.address),
  ])
  const wrong = getTransferCheckedInstruction({
    source,
    mint: other,
    destination,
    authority: buyer,
    amount: PRICE,
    decimals: 6,
  })
  expect(await code(await world.built([...budget, wrong]))).toBe(`${BASE}_mint_mismatch`)
})

test('rejects a signature that is missing or broken', async () => {
  const { transaction } = await world.pay()
  const bytes = Buffer.from(transaction, 'base64')
  const broken = Buffer.from(bytes)
  broken.set([(bytes[65] ?? 0) ^ 1], 65)
  const missing = Buffer.from(bytes)
  missing.set(new Uint8Array(64), 65)
  for (const one of [broken, missing])
    expect(await code({ transaction: one.toString('base64') })).toBe(`${BASE}_signature_invalid`)
})

test('rejects a delegate that pays from another owner’s account', async () => {
  const source = await accountOf(buyer.address)
  const approve = getApproveCheckedInstruction({
    source,
    mint,
    delegate: otherAccount.address,
    owner: buyer,
    amount: 10n * PRICE,
    decimals: 6,
  })
  await solana.run(buyer, [approve])
  const payment = await world.built([...budget, await transfer({ authority: otherAccount })])
  expect(await code(payment)).toBe(`${BASE}_authority_not_owner`)
})

test('parsePayment: returns undefined for a payload that is not a transaction', async () => {
  const { transaction } = await world.pay()
  const wrong: readonly SignedPayment[] = [
    {},
    { transaction: 7 },
    { transaction: '' },
    { transaction: 'AQAB' },
    { transaction: `${transaction.slice(0, -4)}****` },
    { transaction: Buffer.concat([Buffer.from(transaction, 'base64'), Buffer.alloc(3)]).toString('base64') },
    { transaction: Buffer.alloc(1_233).toString('base64') },
    { authorization: {}, signature: '0x00' },
  ]
  for (const one of wrong) {
    expect(facilitator.parsePayment(one)).toBeUndefined()
    expect(await code(one)).toBe(`${BASE}_transaction_could_not_be_decoded`)
  }
})

test('rejects accounts from an address lookup table', async () => {
  const { value } = await solana.rpc.getLatestBlockhash({ commitment: 'confirmed' }).send()
  const transferred = await transfer()
  const tables = { [otherAccount.address]: [mint] }
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (one) => setTransactionMessageFeePayer(gas, one),
    (one) => setTransactionMessageLifetimeUsingBlockhash(value, one),
    (one) => appendTransactionMessageInstructions([...budget, transferred], one),
    (one) => compressTransactionMessageUsingAddressLookupTables(one, tables),
  )
  const signed = await partiallySignTransactionMessageWithSigners(message)
  const payment = { transaction: getBase64EncodedWireTransaction(signed) }
  expect(facilitator.parsePayment(payment)).toBeUndefined()
  expect(await code(payment)).toBe(`${BASE}_transaction_could_not_be_decoded`)
})

test('a node that lags behind the newest blockhash does not cause a rejection when another node accepts', async () => {
  const [first, second] = [await startSolanaRelay(solana.chain.url), await startSolanaRelay(solana.chain.url)]
  const both = await openSolanaFacilitator({ ...world.settings, rpcUrls: [first.url, second.url] })
  const payment = await world.pay()
  const err = 'BlockhashNotFound'
  const behind: Manner = async ({ method }, ask) =>
    method === 'simulateTransaction' ? { context: { slot: 1 }, value: { err, logs: [] } } : ask()
  first.manner = behind
  expect(await both.rejectionReason(payment, PRICE)).toBeUndefined()
  second.manner = always({ kind: 'reset' })
  expect(await both.rejectionReason(payment, PRICE)).toBe('invalid_exact_svm_transaction_simulation_failed')
  first.manner = always({ kind: 'reset' })
  await expect(both.rejectionReason(payment, PRICE)).rejects.toMatchObject({ kind: 'unavailable' })
  await first.stop()
  await second.stop()
})

test('the settled transfer names the buyer as payer and cannot be claimed by others', async () => {
  const payment = await world.built([...budget, await transfer(), memo('for the ledger')])
  const { reference } = await world.settle(payment)
  const chain = solanaChain(world.settings)
  const HOUR = 3_600_000
  const question = {
    reference,
    minAmount: PRICE,
    notBefore: new Date(Date.now() - HOUR),
    notAfter: new Date(Date.now() + HOUR),
  }
  const observation = await once(async () => {
    const found = await chain.findTransfer({ ...question, payers: [buyer.address] })
    return found.kind === 'pending' ? undefined : found
  })
  const attachedData = Buffer.from('for the ledger').toString('hex')
  expect(observation).toMatchObject({
    kind: 'ok',
    transfer: { amount: PRICE, payer: buyer.address, attachedData },
  })
  expect(verdict(await chain.findTransfer({ ...question, sentByPayer: true }))).toBe(
    'rejected: sent_by_another',
  )
})

test('rejects an expired blockhash, and a payment with it is void when two nodes agree', async () => {
  const [first, second] = [await startSolanaRelay(solana.chain.url), await startSolanaRelay(solana.chain.url)]
  const both = await openSolanaFacilitator(
    { ...world.settings, rpcUrls: [first.url, second.url] },
    world.signer,
  )
  const payment = await world.pay()
  const settlement = await signNow(both, payment)
  expect(await both.observe(settlement, payment)).toEqual(UNKNOWN)
  // The second node lags behind: for it the blockhash is still valid.
  const epoch = await solana.chain.call('getEpochInfo', { commitment: 'finalized' })
  second.manner = async ({ method }, ask) => (method === 'getEpochInfo' ? epoch : ask())
  const expired = { kind: 'void', reason: 'the transaction expired' }
  await once(async () =>
    (await facilitator.observe(settlement, payment)).kind === 'void' ? true : undefined,
  )
  expect(await both.observe(settlement, payment)).toEqual(UNKNOWN)
  second.manner = (_call, ask) => ask()
  expect(await both.observe(settlement, payment)).toEqual(expired)
  expect(await code(payment)).toBe('invalid_exact_svm_transaction_simulation_failed')
  await both.send(settlement).catch(() => undefined)
  expect(await both.observe(settlement, payment)).toEqual(expired)
  await first.stop()
  await second.stop()
})

test('a payment that failed on chain is void once the failure is final', async () => {
  const poor = await solana.wallet(PRICE)
  const payment = await world.pay(poor)
  expect(await code(payment)).toBeUndefined()
  const settlement = await signNow(facilitator, payment)
  await solana.run(poor, [await transfer({ from: poor, to: otherAccount.address })])
  await facilitator.send(settlement)
  expect(await confirmed(settlement, payment)).toMatchObject({ kind: 'void' })
})

test('works without the gas key except for signing', async () => {
  const keyless = await openSolanaFacilitator(world.settings)
  const payment = await world.pay()
  expect(await keyless.rejectionReason(payment, PRICE)).toBeUndefined()
  await expect(signNow(keyless, payment)).rejects.toThrow('only a process with the gas key')
  const settlement = await signNow(facilitator, payment)
  await keyless.send(settlement)
  expect(await confirmed(settlement, payment)).toEqual(arrived(settlement.reference))
})

test('starts only with a separate gas account, its matching key and a treasury that can receive USDC', async () => {
  const { settings, signer } = world
  const open = (changes: Partial<typeof settings>) =>
    openSolanaFacilitator({ ...settings, ...changes }, signer)
  await expect(open({ gasAccount: otherAccount.address })).rejects.toThrow('is not the gas account')
  await expect(open({ gasAccount: 'gas' })).rejects.toThrow('not a Solana address')
  await expect(open({ treasury: gas })).rejects.toThrow('own wallets')
  await expect(open({ ownAddresses: [gas] })).rejects.toThrow('own wallets')
  await expect(open({ treasury: unfunded.address })).rejects.toThrow('has no USDC account')
})

test('returns 503 network_unavailable instead of a rejection when the gas account is empty', async () => {
  const empty = await generateKeyPairSigner()
  const settings = { ...world.settings, gasAccount: empty.address, gasAccounts: [empty.address] }
  const poor = await openSolanaFacilitator(settings)
  const payment = await world.built([limitOf(), priceOf(), await transfer()], { feePayer: empty.address })
  const rejected = { kind: 'unavailable', message: expect.stringContaining('Pay on another network') }
  await expect(poor.rejectionReason(payment, PRICE)).rejects.toMatchObject(rejected)
  expect(await poor.readGas()).toMatchObject({ balance: 0n })

  const node = await startSolanaRelay(solana.chain.url)
  const one = await openSolanaFacilitator({ ...settings, rpcUrls: [node.url] })
  const told = async (err: unknown) => {
    node.manner = async ({ method }, ask) =>
      method === 'simulateTransaction' ? { context: { slot: 1 }, value: { err, logs: [] } } : ask()
    return one.rejectionReason(payment, PRICE)
  }
  await expect(told({ InsufficientFundsForRent: { account_index: 0 } })).rejects.toMatchObject(rejected)
  expect(await told({ InsufficientFundsForRent: { account_index: 1 } })).toContain('simulation_failed')
  await node.stop()
})
