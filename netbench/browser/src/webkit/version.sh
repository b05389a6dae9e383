said=$(mktemp) || exit
trap 'rm -f -- "$said"' EXIT
timeout 15 Xvfb -displayfd 3 -terminate -screen 0 64x64x24 -nolisten tcp 3>"$said" 2>/dev/null &
until [ -s "$said" ]; do kill -0 $! || exit; sleep 0.02; done
DISPLAY=":$(cat "$said")" timeout 10 "$1" --version
wait
