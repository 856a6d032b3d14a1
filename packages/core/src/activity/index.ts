export type { Activity } from './activity.ts'
export { deleteOldActivity } from './delete-old.ts'
export { listActivity } from './list-activity.ts'
export { deleteActivity, deleteActivityOf, insertActivity, recordActivity } from './store.ts'
