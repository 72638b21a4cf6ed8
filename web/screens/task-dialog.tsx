/** Placeholder. */
export function newTask(): void {}
