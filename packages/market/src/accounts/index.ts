export { type Account, type LinkedWallet, type Vouched, walletsOf } from './account.ts'
export { getAccount } from './get-account.ts'
export { type AccountChange, saveAccount } from './save-account.ts'
export { updateProfile } from './update-profile.ts'
