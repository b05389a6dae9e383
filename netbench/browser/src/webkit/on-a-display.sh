Xvfb -displayfd 3 -screen 0 1280x1024x24 -nolisten tcp 3>"$HOME/display" </dev/null &
until [ -s "$HOME/display" ]; do kill -0 $! || exit 1; sleep 0.02; done
DISPLAY=":$(cat "$HOME/display")" exec "$@"
