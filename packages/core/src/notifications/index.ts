export { listNotifications } from './list-notifications.ts'
export { markRead } from './mark-read.ts'
export type { Notification, Recipient } from './notification.ts'
export { notify, ownerRecipient } from './notify.ts'
