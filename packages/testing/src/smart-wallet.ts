import {
  type Address,
  concat,
  createPublicClient,
  createWalletClient,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  http,
  isHex,
  pad,
  parseAbi,
} from 'viem'
import { WALLET_FACTORY_BYTECODE } from './contracts/wallet-factory.ts'
import type { EvmSigner } from './evm-signer.ts'

export interface SmartWallet {
  /** Known before the wallet is deployed. */
  readonly address: Address
  /** The owner's signature. Valid by ERC-1271 after the deployment. */
  sign(message: string): Promise<string>
  /** The same signature in an ERC-6492 wrapper. Valid before and after the deployment. */
  signCounterfactual(message: string): Promise<string>
  deploy(): Promise<void>
}

const factoryAbi = parseAbi([
  'function addr(address owner, bytes32 salt) view returns (address)',
  'function create(address owner, bytes32 salt) returns (address)',
])
const COUNTERFACTUAL_SUFFIX: Hex = `0x${'6492'.repeat(16)}`
const SALT = pad('0x01', { size: 32 })

/** An undeployed smart wallet with one owner, on a local node with an unlocked and funded account. */
export const smartWallet = async (rpcUrl: string, owner: EvmSigner): Promise<SmartWallet> => {
  const transport = http(rpcUrl)
  const reader = createPublicClient({ transport, pollingInterval: 10 })
  const writer = createWalletClient({ transport })
  const [deployer] = await writer.getAddresses()
  if (deployer === undefined) throw new Error('the node has no unlocked account')

  const hash = await writer.deployContract({
    account: deployer,
    chain: null,
    abi: factoryAbi,
    bytecode: WALLET_FACTORY_BYTECODE,
  })
  const { contractAddress: factory } = await reader.waitForTransactionReceipt({ hash })
  if (!factory) throw new Error('the wallet factory was not deployed')
  const address = await reader.readContract({
    address: factory,
    abi: factoryAbi,
    functionName: 'addr',
    args: [owner.address, SALT],
  })
  const create = { abi: factoryAbi, functionName: 'create', args: [owner.address, SALT] } as const

  return {
    address,
    sign: owner.sign,
    async signCounterfactual(message) {
      const signature = await owner.sign(message)
      if (!isHex(signature)) throw new Error('the owner signs in hexadecimal')
      const wrapped = encodeAbiParameters(
        [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }],
        [factory, encodeFunctionData(create), signature],
      )
      return concat([wrapped, COUNTERFACTUAL_SUFFIX])
    },
    async deploy() {
      const sent = await writer.writeContract({ account: deployer, chain: null, address: factory, ...create })
      await reader.waitForTransactionReceipt({ hash: sent })
    },
  }
}
