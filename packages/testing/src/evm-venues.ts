import {
  type Address,
  concat,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  type PrivateKeyAccount,
  parseAbi,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import {
  FEE_VAULT_BYTECODE,
  LENDING_VAULT_BYTECODE,
  LIQUIDITY_VAULT_BYTECODE,
  LYING_VAULT_BYTECODE,
  ZERO_MAX_VAULT_BYTECODE,
} from './contracts/venues.ts'
import type { EvmNetwork } from './evm-network.ts'
import { USDC_ABI } from './evm-usdc.ts'

const VAULT_ABI = parseAbi([
  'function deposit(uint256 assets, address receiver) returns (uint256)',
  'function transfer(address to, uint256 shares) returns (bool)',
  'function balanceOf(address owner) view returns (uint256)',
  'function pause(bool paused)',
  'function borrow(uint256 amount)',
  'function borrowed() view returns (uint256)',
  'function repay(uint256 principal, uint256 interest)',
  'function badDebt(uint256 amount)',
  'function open(uint256 amount)',
  'function tradersWin(uint256 amount)',
  'function tradersLose(uint256 amount)',
  'function setFees(uint256 entry, uint256 exit)',
  'function lie(uint256 bps)',
])

const BYTECODES = {
  lending: LENDING_VAULT_BYTECODE,
  liquidity: LIQUIDITY_VAULT_BYTECODE,
  fees: FEE_VAULT_BYTECODE,
  zeroMax: ZERO_MAX_VAULT_BYTECODE,
  lying: LYING_VAULT_BYTECODE,
} as const

export type TestVaultKind = keyof typeof BYTECODES

/** A vault on a test network, and what its borrowers, traders and operators do. Not every kind can do everything. */
export interface TestVault {
  readonly address: Address
  /** Another depositor of the vault puts USDC in, and gets the shares itself by default. Returns the transaction. */
  depositByOther(amount: bigint, receiver?: Address): Promise<Hex>
  /** Shares of an account. */
  sharesOf(account: Address): Promise<bigint>
  pause(paused: boolean): Promise<Hex>
  /** `lending`: lends USDC out, so that it cannot be withdrawn. */
  borrow(amount: bigint): Promise<Hex>
  /** `lending`: what is lent out. */
  debt(): Promise<bigint>
  repay(principal: bigint, interest: bigint): Promise<void>
  badDebt(amount: bigint): Promise<Hex>
  /** `liquidity`: how much open positions use. It cannot be withdrawn. */
  openPositions(amount: bigint): Promise<Hex>
  tradersWin(amount: bigint): Promise<Hex>
  tradersLose(amount: bigint): Promise<void>
  /** `fees`: in basis points. */
  setFees(entry: bigint, exit: bigint): Promise<Hex>
  /** `lying`: how much of every withdrawal it does not pay, in basis points. */
  lie(bps: bigint): Promise<Hex>
  /** Somebody else sends USDC to the vault for nothing, so that its shares are worth more. */
  donate(amount: bigint): Promise<void>
  /** Somebody else sends shares of the vault to an account. */
  giveShares(to: Address, amount: bigint): Promise<void>
}

/** Deploys a vault for the USDC of the network. */
export const deployVault = async (network: EvmNetwork, kind: TestVaultKind): Promise<TestVault> => {
  const constructorArgs = encodeAbiParameters([{ type: 'address' }], [network.usdc])
  const address = await network.deploy(concat([BYTECODES[kind], constructorArgs]))
  // The borrower and the traders of this vault.
  const other = privateKeyToAccount(generatePrivateKey())
  await network.fund(other.address)

  const call = async (data: Hex, from = other): Promise<Hex> => {
    const hash = await network.call(from, address, data)
    await network.included(hash)
    const receipt = (await network.rpc('eth_getTransactionReceipt', [hash])) as { readonly status: string }
    if (receipt.status !== '0x1') throw new Error(`a call of the ${kind} vault reverted`)
    return hash
  }
  const one = (functionName: 'borrow' | 'badDebt' | 'open' | 'tradersWin' | 'lie') => (amount: bigint) =>
    call(encodeFunctionData({ abi: VAULT_ABI, functionName, args: [amount] }))
  /** New USDC of an account that the vault may take. */
  const give = async (amount: bigint, account = other): Promise<void> => {
    await network.included(await network.mint(account.address, amount))
    const args = [address, amount] as const
    await network.call(
      account,
      network.usdc,
      encodeFunctionData({ abi: USDC_ABI, functionName: 'approve', args }),
    )
  }
  const read = async (data: Hex): Promise<bigint> =>
    BigInt(String(await network.rpc('eth_call', [{ to: address, data }, 'latest'])))
  const sharesOf = (account: Address): Promise<bigint> =>
    read(encodeFunctionData({ abi: VAULT_ABI, functionName: 'balanceOf', args: [account] }))
  const depositBy = async (
    account: PrivateKeyAccount,
    amount: bigint,
    receiver = account.address,
  ): Promise<Hex> => {
    await give(amount, account)
    const args = [amount, receiver] as const
    return call(encodeFunctionData({ abi: VAULT_ABI, functionName: 'deposit', args }), account)
  }

  return {
    address,
    depositByOther: async (amount, receiver) => {
      const account = privateKeyToAccount(generatePrivateKey())
      await network.fund(account.address)
      return depositBy(account, amount, receiver)
    },
    sharesOf,
    pause: (paused) => call(encodeFunctionData({ abi: VAULT_ABI, functionName: 'pause', args: [paused] })),
    borrow: one('borrow'),
    debt: () => read(encodeFunctionData({ abi: VAULT_ABI, functionName: 'borrowed' })),
    repay: async (principal, interest) => {
      await give(principal + interest)
      await call(encodeFunctionData({ abi: VAULT_ABI, functionName: 'repay', args: [principal, interest] }))
    },
    badDebt: one('badDebt'),
    openPositions: one('open'),
    tradersWin: one('tradersWin'),
    tradersLose: async (amount) => {
      await give(amount)
      await call(encodeFunctionData({ abi: VAULT_ABI, functionName: 'tradersLose', args: [amount] }))
    },
    setFees: (entry, exit) =>
      call(encodeFunctionData({ abi: VAULT_ABI, functionName: 'setFees', args: [entry, exit] })),
    lie: one('lie'),
    donate: async (amount) => void (await network.mint(address, amount)),
    giveShares: async (to, amount) => {
      await depositBy(other, amount)
      const args = [to, await sharesOf(other.address)] as const
      await call(encodeFunctionData({ abi: VAULT_ABI, functionName: 'transfer', args }))
    },
  }
}
