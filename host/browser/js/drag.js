// Dragging: whether the browser took a drag over from the mouse, and how it ended. Only events that a page cannot forge.

const drags = {
  /** The last dragstart. @type {DragEvent | null} */
  start: null,
  /** The effect of the last dragend. */
  effect: '',
  ended: false,
  dropped: false,
  watching: false,
  watch() {
    this.start = null;
    this.effect = '';
    this.ended = this.dropped = false;
    if (this.watching) return;
    this.watching = true;
    addEventListener('dragstart', (event) => {
      if (event.isTrusted) this.start = event;
    }, true);
    addEventListener('drop', (event) => {
      if (event.isTrusted) this.dropped = true;
    }, true);
    addEventListener('dragend', (event) => {
      if (!event.isTrusted) return;
      this.ended = true;
      this.effect = event.dataTransfer?.dropEffect ?? '';
    }, true);
  },
};

/** @param {{watch?: boolean}} args @returns {ReturnType<import('./engine').Engine['drag']>} */
function dragState({watch = false}) {
  if (watch) drags.watch();
  return {native: drags.start !== null && !drags.start.defaultPrevented, ended: drags.ended, effect: drags.effect, dropped: drags.dropped};
}
