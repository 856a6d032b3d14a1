import { evmPayer, Market } from '@market/sdk'
import { privateKeyToAccount } from 'viem/accounts'

const { MARKET_API_URL: apiUrl = '', SERVICE_ID: service = '', BUYER_KEY = '' } = process.env
const payer = evmPayer(privateKeyToAccount(BUYER_KEY as `0x${string}`))
const brief = 'Five words to be counted.'
const { deliverables } = await new Market({ apiUrl }).hire({ service, brief, payer, maxUsd: '0.55' })
console.log(deliverables[0]?.content)
