export { listMessages } from './list-messages.ts'
export type { Message } from './message.ts'
export { sendMessage } from './send-message.ts'
export { eraseMessages } from './store.ts'
