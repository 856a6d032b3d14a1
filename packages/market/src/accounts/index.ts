export type { Account, LinkedWallet } from './account.ts'
export { getAccount } from './get-account.ts'
export { type AccountChange, saveAccount } from './save-account.ts'
export { updateProfile } from './update-profile.ts'
