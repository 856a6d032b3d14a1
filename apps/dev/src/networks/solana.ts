import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { ApiError } from '@market/kernel/api-error'
import { installSolanaUsdc } from '@market/testing/solana-usdc'
import { startSurfpool } from '@market/testing/surfpool'
import {
  type Address,
  address,
  appendTransactionMessageInstructions,
  createKeyPairSignerFromPrivateKeyBytes,
  createSolanaRpc,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase58Decoder,
  getBase58Encoder,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  type Instruction,
  isAddress,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import {
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token'
import { unknownWallet } from './evm.ts'
import type { LocalNetwork } from './network.ts'

/** A block is final after 31 more slots, and a transaction expires after 150. */
const SLOT_MS = 100
const SOL = 1_000_000_000n
const DECIMALS = 6
const POLL_MS = 20
const KEEP_TIME_MS = 1_000
const BEHIND_MS = 2_000

/** Starts a local Solana chain with USDC. */
export async function startSolana({ port }: { readonly port: number }): Promise<LocalNetwork> {
  const chain = await startSurfpool({ slotTimeMs: SLOT_MS, port })
  const rpc = createSolanaRpc(chain.url)
  const usdc = await installSolanaUsdc(chain, await generateKeyPairSigner())
  const mint = address(usdc.mint)
  const seed = randomBytes(32)
  const treasury = await createKeyPairSignerFromPrivateKeyBytes(Uint8Array.from(seed))
  const gasSeed = randomBytes(32)
  const gas = await createKeyPairSignerFromPrivateKeyBytes(Uint8Array.from(gasSeed))
  await chain.fundSol(treasury.address, 1_000n * SOL)
  await chain.fundSol(gas.address, 1_000n * SOL)
  // Creates the treasury's token account, so that every wallet can pay into it.
  await usdc.fund(treasury.address, 0n)
  const wallets = new Map<string, KeyPairSigner>()
  const newestBlockTime = async (): Promise<number> => {
    const slot = await rpc.getSlot({ commitment: 'processed' }).send()
    return Number(await rpc.getBlockTime(slot).send()) * 1_000
  }
  // The node counts its time in slots, so that it falls behind while the machine is busy.
  const keepTime = setInterval(async () => {
    const behindMs = Date.now() - (await newestBlockTime().catch(() => Date.now()))
    if (behindMs > BEHIND_MS)
      await chain.call('surfnet_timeTravel', { absoluteTimestamp: Date.now() }).catch(() => undefined)
  }, KEEP_TIME_MS)

  const newSigner = async (privateKey = randomBytes(32)): Promise<KeyPairSigner> => {
    const signer = await createKeyPairSignerFromPrivateKeyBytes(Uint8Array.from(privateKey))
    wallets.set(signer.address, signer)
    return signer
  }
  const fund: LocalNetwork['fund'] = async (to, more) => {
    const owner = addressOf(to)
    const { value: balance } = await rpc.getBalance(owner).send()
    if (more.native > 0n) await chain.fundSol(owner, balance + more.native)
    if (more.usdc > 0n) await usdc.fund(owner, (await usdc.balanceOf(owner)) + more.usdc)
  }
  const accountOf = async (owner: Address): Promise<Address> => address(await usdc.accountOf(owner))

  const run = async (payer: KeyPairSigner, instructions: readonly Instruction[]): Promise<string> => {
    const { value: blockhash } = await rpc.getLatestBlockhash({ commitment: 'confirmed' }).send()
    const transaction = await signTransactionMessageWithSigners(
      pipe(
        createTransactionMessage({ version: 0 }),
        (message) => setTransactionMessageFeePayerSigner(payer, message),
        (message) => setTransactionMessageLifetimeUsingBlockhash(blockhash, message),
        (message) => appendTransactionMessageInstructions(instructions, message),
      ),
    )
    await rpc.sendTransaction(getBase64EncodedWireTransaction(transaction), { encoding: 'base64' }).send()
    const signature = getSignatureFromTransaction(transaction)
    for (;;) {
      const { value } = await rpc.getSignatureStatuses([signature]).send()
      const status = value[0]?.confirmationStatus
      if (status === 'confirmed' || status === 'finalized') return signature
      await wait(POLL_MS)
    }
  }

  return {
    addresses: { rpc: chain.url, usdc: usdc.mint, treasury: treasury.address },
    treasuryKey: seed.toString('hex'),
    gas: { account: gas.address, key: gasSeed.toString('hex') },
    identity: chain.genesisHash,
    newWallet: async () => {
      const key = randomBytes(32)
      const { address: own } = await newSigner(key)
      const bytes = Buffer.concat([key, getBase58Encoder().encode(own) as Uint8Array])
      return { address: own, private_key: getBase58Decoder().decode(bytes) }
    },
    fund,
    transfer: async (to, amount, from) => {
      const payee = addressOf(to)
      const payer = from === undefined ? await newSigner() : wallets.get(from)
      if (payer === undefined) throw unknownWallet(from)
      await fund(payer.address, { native: SOL, usdc: amount })
      const [source, destination] = await Promise.all([accountOf(payer.address), accountOf(payee)])
      const tx = await run(payer, [
        getCreateAssociatedTokenIdempotentInstruction({ payer, ata: destination, owner: payee, mint }),
        getTransferCheckedInstruction({
          source,
          mint,
          destination,
          authority: payer,
          amount,
          decimals: DECIMALS,
        }),
      ])
      return { tx, payer: payer.address }
    },
    makeBlocks: async () => {
      throw new ApiError('invalid', 'The blocks of solana-mainnet cannot be stopped. Name an EVM network.')
    },
    untilBlockAt: async (at) => {
      while ((await newestBlockTime()) < at.getTime()) await wait(POLL_MS)
    },
    stop: async () => {
      clearInterval(keepTime)
      await chain.stop()
    },
  }
}

function addressOf(text: string): Address {
  if (/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text) && isAddress(text)) return text
  throw new ApiError('invalid', `${text} is not a Solana address`)
}
