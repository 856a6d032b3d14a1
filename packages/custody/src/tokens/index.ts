export { getToken, getTokenDocument } from './get-token.ts'
export { launchToken, mintIdentity, type TokenSettings, tokenListener } from './launch-token.ts'
export { registerToken } from './register-token.ts'
export type { Token } from './token.ts'
